"""Expands a configuration the way the original did: one process, PyYAML and Jinja2, templates in Jinja and Python.

    python3 peer.py CONFIGURATION IMPORT...

Each IMPORT is a file; its name is its base name. What comes out is printed as YAML. It is no reference: schemas and
outputs are left out, which makes it faster, and nothing is confined.
"""
import os.path
import sys

import jinja2
import yaml

IMPORTS = {os.path.basename(path): open(path).read() for path in sys.argv[2:]}


class Context(object):
    pass


def render(resource):
    name, source = resource["type"], IMPORTS[resource["type"]]
    env = {"deployment": "bench", "project": "bench", "name": resource["name"], "type": name}
    if name.endswith(".jinja"):
        environment = jinja2.Environment(loader=jinja2.DictLoader(IMPORTS))
        return environment.from_string(source).render(
            name=resource["name"], type=name, properties=resource.get("properties"), env=env, imports=IMPORTS
        )
    context = Context()
    context.properties, context.env, context.imports = resource.get("properties"), env, IMPORTS
    names = {"__name__": "template"}
    exec(compile(source, name, "exec"), names)
    return (names.get("GenerateConfig") or names["generate_config"])(context)


def expand(resources):
    flat = []
    for resource in resources:
        if resource["type"] in IMPORTS:
            made = render(resource)
            made = yaml.safe_load(made) if isinstance(made, str) else made
            flat.extend(expand(made["resources"]))
        else:
            flat.append(resource)
    return flat


with open(sys.argv[1]) as file:
    configuration = yaml.safe_load(file)
yaml.safe_dump({"resources": expand(configuration["resources"])}, sys.stdout, default_flow_style=False)
