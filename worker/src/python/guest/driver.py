"""Runs Deployment Manager templates inside the guest, one a call, for the host outside.

A call reads a job from descriptor 0 and writes its answer to descriptor 1, both JSON:

    {"language": "python" | "jinja", "file", "source", "properties", "env", "imports" | null, "output"}
    {"text": …, "properties", "env"} | {"value": …, "properties", "env"} | {"limit": "memory" | "output"}
        | {"error": {"message", "file", "line", "trace"}}

`imports` is null where they are those of the call before. `properties` and `env` are in an answer where the template
changed them. All calls of one expansion run in one instance. What a call
leaves behind is put back before the next: modules of helpers, `sys.modules`, built-ins, the names of the modules that
templates use, the registries of yaml and Jinja. A template that looks for more finds more; it belongs to the same
expansion, and nothing outlives that.

Nothing here trusts what a template made: types are asked of `type`, members of the plain types themselves.
"""
import builtins
import collections
import copy
import datetime
import functools
import importlib.machinery
import io
import itertools
import json
import math
import os
import random
import re
import string
import sys
import textwrap
import time
import types
import uuid

import jinja2
import six
import yaml

OURS = "<formwork>"
LIBRARIES = ("/lib/", "/usr/local/lib/python3.12/")

# What a value may hold: levels, and things in all. A list that is shared a thousand times counts a thousand times.
DEEPEST = 100
MOST_THINGS = 1_000_000
LONGEST_MESSAGE = 4_000
MOST_FRAMES = 24

_read_from = io.FileIO(0, "r", closefd=False)
_write_to = io.FileIO(1, "w", closefd=False)
_loads = json.loads
_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
_seed = random.seed
_order = type.__dict__["__mro__"].__get__


class Properties(dict):
    """A map as templates of Python 2 knew it."""

    __slots__ = ()

    def iteritems(self):
        return iter(self.items())

    def iterkeys(self):
        return iter(self.keys())

    def itervalues(self):
        return iter(self.values())

    def has_key(self, key):
        return key in self

    def __deepcopy__(self, memo):
        made = memo[id(self)] = Properties()
        for key, value in self.items():
            made[key] = copy.deepcopy(value, memo)
        return made


class Context(object):
    """What GenerateConfig is given."""

    def __init__(self, properties, env, imports):
        self.properties = properties
        self.env = env
        self.imports = imports


class Nowhere(io.TextIOBase):
    """Where print goes."""

    def writable(self):
        return True

    def write(self, text):
        return len(text)


def _wrapped(value):
    if type(value) is dict:
        return Properties((key, _wrapped(member)) for key, member in value.items())
    if type(value) is list:
        return [_wrapped(member) for member in value]
    return value


def _shim():
    """What Python 2 had, and PyYAML of its time: load() without a loader."""
    for name, value in (("unicode", str), ("basestring", str), ("long", int), ("xrange", range)):
        setattr(builtins, name, value)
    load, load_all = yaml.load, yaml.load_all
    yaml.load = lambda stream, Loader=yaml.SafeLoader: load(stream, Loader)
    yaml.load_all = lambda stream, Loader=yaml.SafeLoader: load_all(stream, Loader)
    for representer in (yaml.representer.SafeRepresenter, yaml.representer.Representer):
        representer.add_representer(Properties, lambda dumper, value: dumper.represent_dict(value.items()))


_shim()


# ---- Modules of the expansion


def _module_name(path):
    parts = [part for part in path[:-3].split("/") if part not in ("", ".", "..")]
    if parts and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


class Helpers(object):
    """Imports among the files of an expansion: `helpers/common.py` is `helpers.common`, and its parents are packages."""

    def __init__(self, files):
        self.files = files
        self.paths = {}
        self.by_last_name = {}
        for path in files:
            if not path.endswith(".py"):
                continue
            name = _module_name(path)
            if not name:
                continue
            self.paths[name] = path
            self.by_last_name.setdefault(name.rpartition(".")[2], []).append(path)
            parts = name.split(".")
            for count in range(1, len(parts)):
                self.paths.setdefault(".".join(parts[:count]), None)
        self.packages = {name.rpartition(".")[0] for name in self.paths}
        self.loaded = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.paths:
            return None
        self.loaded.add(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = self.paths.get(module.__name__) or self.sibling(module.__name__)
        if path is not None:
            module.__file__ = path
            exec(compile(self.files[path], path, "exec", dont_inherit=True), module.__dict__)

    def sibling(self, name):
        # A file may be there under several names.
        found = self.by_last_name.get(name, ())
        return next(iter(found)) if len({self.files[path] for path in found}) == 1 else None


class Siblings(object):
    """After everything else: a helper's neighbour by its bare name, as Python 2 looked it up."""

    def __init__(self, helpers):
        self.helpers = helpers

    def find_spec(self, name, path=None, target=None):
        if "." in name or self.helpers.sibling(name) is None:
            return None
        self.helpers.loaded.add(name)
        return importlib.machinery.ModuleSpec(name, self.helpers)


# ---- What comes back


class Refused(Exception):
    """Why a call gives nothing, in our own words."""


def _key(key, where):
    kind = type(key)
    if kind is str:
        return key
    if key is None:
        return "null"
    if kind is bool:
        return "true" if key else "false"
    order = _order(kind)
    if str in order:
        return str.__str__(key)
    if int in order:
        return int.__repr__(int.__int__(key))
    if float in order:
        return float.__repr__(float.__float__(key))
    raise Refused("a key in %s is of type %s: make it a text" % (_place(where), _name(kind)))


def _place(where):
    return "what it returned" + "".join("[%s]" % str.__repr__(step)[:80] if type(step) is str else "[%d]" % step for step in where)


def _plain(value):
    """The value in plain types, as JSON says them; or what cannot be said, and where it is."""
    where = []
    left = MOST_THINGS

    def walk(value):
        nonlocal left
        left -= 1
        if left < 0:
            raise Refused("what it returned has more than %d parts" % MOST_THINGS)
        kind = type(value)
        if kind is str or value is None or kind is bool:
            return value
        order = _order(kind)
        if str in order:
            return str.__str__(value)
        if int in order:
            number = int.__int__(value)
            if -(1 << 63) <= number < 1 << 64:
                return number
            raise Refused("%s is a whole number of more than 64 bits: make it a text" % _place(where))
        if float in order:
            number = float.__float__(value)
            if math.isfinite(number):
                return number
            raise Refused("%s is %s, which is no number to write down" % (_place(where), float.__repr__(number)))
        if len(where) >= DEEPEST:
            raise Refused("what it returned nests more than %d deep: look for something that contains itself" % DEEPEST)
        if dict in order:
            made = {}
            for key, member in list(dict.items(value)):
                name = _key(key, where)
                if name in made:
                    raise Refused("two keys in %s are both written %s" % (_place(where), str.__repr__(name)[:80]))
                where.append(name)
                made[name] = walk(member)
                where.pop()
            return made
        if list in order or tuple in order:
            made = []
            for index, member in enumerate(list(list.__iter__(value) if list in order else tuple.__iter__(value))):
                where.append(index)
                made.append(walk(member))
                where.pop()
            return made
        if datetime.datetime in order:
            return datetime.datetime.isoformat(value, " ")
        if datetime.date in order:
            return datetime.date.isoformat(value)
        raise Refused("%s is of type %s: return maps, lists, texts, numbers, true, false and None" % (_place(where), _name(kind)))

    return walk(value)


def _name(kind):
    try:
        name = type.__dict__["__qualname__"].__get__(kind)
        module = type.__dict__["__module__"].__get__(kind)
        if type(module) is str and module not in ("builtins", "__main__", "_formwork"):
            name = module + "." + name
        return name[:200]
    except BaseException:
        return "something"


def _text_of(error):
    try:
        order = _order(type(error))
        if jinja2.TemplateSyntaxError in order or SyntaxError in order:
            text = error.message if jinja2.TemplateSyntaxError in order else error.msg
            if type(text) is str:
                return text
        text = str(error)
        return str.__str__(text)
    except BaseException:
        return "its text cannot be told"


def _failure(error, traceback, file, files):
    """The exception's type and text, where in the expansion's files it was raised, and what led there."""
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        name = code.co_filename
        if name in files or name == file:
            frames.append((name, traceback.tb_lineno, code.co_name, True))
        elif name != OURS and not name.startswith("<"):
            for library in LIBRARIES:
                name = name.removeprefix(library)
            # Where Jinja was in its own code helps nobody who writes templates.
            if not name.startswith("jinja2/"):
                frames.append((name, traceback.tb_lineno, code.co_name, False))
        traceback = traceback.tb_next
    at = next(((name, line) for name, line, _, ours in reversed(frames) if ours), (None, None))
    order = _order(type(error))
    if SyntaxError in order or jinja2.TemplateSyntaxError in order:
        try:
            name, line = error.filename, error.lineno
            if type(name) is str and type(line) is int and (name in files or name == file):
                at = (name, line)
        except BaseException:
            pass
    if len(frames) > MOST_FRAMES:
        frames = frames[: MOST_FRAMES // 3] + [None] + frames[-2 * MOST_FRAMES // 3 :]
    trace = ["…" if frame is None else "%s:%s in %s" % (frame[0], frame[1], frame[2][:100]) for frame in frames]
    text = _text_of(error)
    message = _name(type(error)) + (": " + text if text else "")
    if len(message) > LONGEST_MESSAGE:
        message = message[:LONGEST_MESSAGE] + "…"
    return {"error": {"message": message, "file": at[0], "line": at[1], "trace": trace}}


# ---- Running


_used = False
_imports = {}
_jinja_files = {}


def _load_jinja(name):
    source = _jinja_files.get(name)
    return None if source is None else (source, name, None)


_jinja = jinja2.Environment(loader=jinja2.FunctionLoader(_load_jinja), cache_size=0)


def _render(job, properties, env, imports):
    global _jinja_files
    _jinja_files = dict(imports)
    _jinja_files[job["file"]] = job["source"]
    given = {"name": env.get("name"), "type": env.get("type"), "env": env, "imports": imports}
    if properties is not None:
        given["properties"] = properties
    return _jinja.get_template(job["file"]).render(given)


def _generate(job, properties, env, imports):
    file = job["file"]
    helpers = Helpers(imports)
    siblings = Siblings(helpers)
    hidden = {name: sys.modules.pop(name) for name in list(helpers.paths) if name in sys.modules}
    sys.meta_path.insert(0, helpers)
    sys.meta_path.append(siblings)
    try:
        names = {"__name__": "__dm__", "__file__": file, "__builtins__": builtins}
        exec(compile(job["source"], file, "exec", dont_inherit=True), names)
        function = names.get("GenerateConfig") or names.get("generate_config")
        if function is None:
            # As the original says it.
            raise Refused("KeyError: 'GenerateConfig'")
        return function(Context(properties, env, imports))
    finally:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not helpers and finder is not siblings]
        for name in helpers.loaded:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def _changes(job, properties, env, answer):
    """The answer with what the template changed of what it was given: templates after it see that."""
    for name, value in (("properties", properties), ("env", env)):
        value = _plain(value)
        if value != job[name]:
            answer[name] = value
    return answer


def _answer(job):
    global _imports
    if job["imports"] is not None:
        _imports = job["imports"]
    file = job["file"]
    try:
        imports = dict(_imports)
        properties, env = _wrapped(job["properties"]), _wrapped(job["env"])
        if job["language"] == "jinja":
            result = _render(job, properties, env, imports)
        else:
            result = _generate(job, properties, env, imports)
        order = _order(type(result))
        if bytes in order:
            result = bytes.decode(result, "utf-8")
        elif str in order:
            result = str.__str__(result)
        else:
            return _changes(job, properties, env, {"value": _plain(result)})
        if len(result) > job["output"]:
            return {"limit": "output"}
        return _changes(job, properties, env, {"text": result})
    except MemoryError:
        return {"limit": "memory"}
    except Refused as error:
        return {"error": {"message": str(error), "file": file, "line": None, "trace": []}}
    except BaseException as error:
        return _failure(error, sys.exc_info()[2], file, _imports)


def serve():
    """One call from the host."""
    global _used
    if _used:
        _restore()
    _used = True
    job = _loads(_read_from.readall())
    # From the host's randomness, which was made for this call.
    _seed()
    answer = _answer(job)
    try:
        said = _dumps(answer).encode("utf-8")
    except MemoryError:
        said = b'{"limit": "memory"}'
    except UnicodeEncodeError:
        text = "what it returned holds half a surrogate pair, which is no character"
        said = _dumps({"error": {"message": text, "file": job["file"], "line": None, "trace": []}}).encode("ascii")
    begun = 0
    while begun < len(said):
        begun += _write_to.write(said[begun:])


# ---- Putting back what a call left behind

_SHARED = (
    builtins, collections, copy, datetime, functools, importlib, itertools, jinja2, jinja2.filters, json, math, os,
    random, re, six, string, sys, textwrap, time, types, uuid, yaml, yaml.constructor, yaml.representer, yaml.resolver,
)
_kept = None


def freeze():
    """Takes what there is now as what every call begins with."""
    global _kept
    lists = [(held, list(held)) for held in (sys.path, sys.meta_path, sys.path_hooks)]
    dicts = [(vars(module), dict(vars(module))) for module in _SHARED]
    dicts += [(held, dict(held)) for held in (_jinja.globals, _jinja.filters, _jinja.tests)]
    registries = []
    for kind in (
        yaml.constructor.SafeConstructor, yaml.constructor.FullConstructor, yaml.constructor.UnsafeConstructor,
        yaml.representer.SafeRepresenter, yaml.representer.Representer, yaml.resolver.Resolver,
        yaml.Loader, yaml.SafeLoader, yaml.FullLoader, yaml.Dumper, yaml.SafeDumper, jinja2.Environment,
    ):
        members = dict(vars(kind))
        for name, member in members.items():
            if type(member) is dict:
                dicts.append((member, dict(member)))
        registries.append((kind, members))
    _kept = (dict(sys.modules), lists, dicts, registries)


def _restore():
    modules, lists, dicts, registries = _kept
    for held, before in lists:
        held[:] = before
    for held, before in dicts:
        if len(held) != len(before):
            for name in [name for name in held if name not in before]:
                del held[name]
        held.update(before)
    for kind, members in registries:
        now = type.__dict__["__dict__"].__get__(kind)
        for name in [name for name in now if name not in members]:
            type.__delattr__(kind, name)
        for name, member in members.items():
            if now.get(name) is not member:
                type.__setattr__(kind, name, member)
    for name in [name for name in sys.modules if name not in modules]:
        del sys.modules[name]
    sys.modules.update(modules)
