//! The rules for Deployment Manager templates: what inspection looks for.

schema::dialect_rules! {
    NO_SCHEMA = "dm-schema-missing", Info,
        "Without a schema nobody is told which properties there are, and none has a default.",
        "Add `<template>.schema` with info, properties and required.";
    BROKEN_SCHEMA = "dm-schema", Error,
        "The template cannot be expanded with a schema that is not valid.",
        "Mend the schema at the place named.";
    INT_TYPE = "dm-schema-int", Warning,
        "`int` is no type of JSON Schema; other tools refuse the whole schema.",
        "Write `type: integer`.";
    MISSING_IMPORT = "dm-import-missing", Error,
        "Expansion fails: the file a schema imports is not in the version.",
        "Add the file, or mend its path, which is relative to the template.";
    SYNTAX = "dm-jinja-syntax", Error,
        "A template that cannot be compiled cannot be expanded.",
        "Mend the template at the place named.";
    NOT_TEXT = "dm-encoding", Error,
        "Templates are UTF-8 text.",
        "Save the file as UTF-8.";
    NO_RESOURCES = "dm-resources", Warning,
        "Expansion fails unless the template writes a `resources:` list, and its text never says the word.",
        "Write `resources:` and a list under it.";
    PYTHON_ENTRY = "dm-python-entry", Error,
        "A Python template is called through GenerateConfig, and has no such function.",
        "Define `def GenerateConfig(context):`.";
}
