"""Runs once, when the snapshot is baked: imports what templates use, warms it up, and hands over to the host.

The host gives `{"modules": {name: [path, source, is_package]}, "driver": source}` on descriptor 0. What is printed
is what the host must know of the frozen memory; the call behind it is where the host freezes it.
"""
import builtins
import gc
import importlib.machinery
import io
import json
import sys
import time

given = json.loads(io.FileIO(0, "r", closefd=False).readall())


class Given:
    """Modules that were handed in: the packages written in Python that templates use."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in given["modules"]:
            return importlib.machinery.ModuleSpec(name, cls, is_package=given["modules"][name][2])

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        path, source, _ = given["modules"][module.__name__]
        module.__file__ = "/lib/" + path
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)


sys.meta_path.insert(0, Given)

import abc, ast, base64, binascii, bisect, calendar, collections.abc, configparser, contextlib, copy, csv, dataclasses
import datetime, decimal, difflib, enum, fnmatch, fractions, functools, hashlib, heapq, hmac, html, inspect, ipaddress
import itertools, keyword, logging, math, numbers, operator, os.path, posixpath, pprint, random, re, secrets
import statistics, string, struct, textwrap, tokenize, traceback, types, typing, urllib.parse, uuid, warnings, zlib
import yaml, six, six.moves, jinja2

# All of them: nothing can be read later.
for name in given["modules"]:
    __import__(name)

driver = type(sys)("_formwork")
driver.__file__ = "<formwork>"
sys.modules["_formwork"] = driver
# Of its own: what a template does to the built-ins is not done to the driver.
driver.__builtins__ = dict(vars(builtins))
exec(compile(given["driver"], "<formwork>", "exec", dont_inherit=True), driver.__dict__)

# Code that has run is faster, and caches that are full need not be filled again.
PYTHON = '''
import copy, json, random, six, yaml
from helpers.common import name
class Maker(object):
  def __init__(self, context):
    self.context = context
  def resources(self):
    zone = self.context.properties.get("zone", "a")
    return [{"name": name(self.context, i), "type": "t", "properties": {"zone": zone, "n": [i, 1.5, None, True]}}
            for i in range(20)]
def GenerateConfig(context):
  made = copy.deepcopy(Maker(context).resources())
  for key, value in six.iteritems(context.properties):
    made.append({"name": key, "type": "t", "properties": {"v": "%s" % value}})
  text = yaml.dump({"resources": made, "properties": context.properties}, default_flow_style=False)
  yaml.safe_load("a: [1, 2.5, {b: null}]")
  return text if context.properties["text"] else {"resources": made}
'''
HELPER = 'def name(context, i):\n  return "%s-%d" % (context.env["name"], i)\n'
JINJA = '''
{% from "macros.jinja" import named %}
resources:
{% for i in range(3) %}
- name: {{ named(env.name, i) }}
  properties: {zone: {{ properties.zone|default("a")|upper }}, list: {{ properties.list }}}
{% endfor %}
{% if properties.text is defined and not properties.text %}- name: x{% else %}- name: {{ imports|length }}{% endif %}
'''
MACROS = "{% macro named(name, i) %}{{ name }}-{{ i }}{% endmacro %}"
BROKEN = "def GenerateConfig(context):\n  return context.properties['nothing']\n"


def warm(language, file, source, text):
    job = {
        "language": language, "file": file, "source": source, "output": 1 << 20,
        "properties": {"zone": "b", "list": [1, 2], "text": text}, "env": {"name": "n", "type": "t"},
        "imports": {"helpers/common.py": HELPER, "macros.jinja": MACROS},
    }
    return json.loads(driver._dumps(driver._answer(json.loads(json.dumps(job)))))


for _ in range(12):
    assert "text" in warm("python", "t.py", PYTHON, True), warm("python", "t.py", PYTHON, True)
    assert "value" in warm("python", "t.py", PYTHON, False)
    assert "text" in warm("jinja", "t.jinja", JINJA, True), warm("jinja", "t.jinja", JINJA, True)
    assert warm("python", "t.py", BROKEN, True)["error"]["line"] == 2

driver._imports, driver._jinja_files = {}, {}
sys.stdin = sys.__stdin__ = io.StringIO("")
sys.__stdout__ = sys.__stderr__ = None
say, sys.stdout, sys.stderr = sys.stdout, driver.Nowhere(), driver.Nowhere()
sys.meta_path.remove(Given)
sys.path_importer_cache.clear()
given.clear()
driver.freeze()
gc.collect()
gc.freeze()
# A template's garbage in circles is collected, but seldom: most are gone before there is any to speak of.
gc.set_threshold(50_000, 10, 10)

print(json.dumps({"serve": id(driver.serve), "version": sys.version.split()[0]}), file=say, flush=True)
time.clock_getres(time.CLOCK_MONOTONIC)
