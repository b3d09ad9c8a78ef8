//! The rules for Templates: what inspection looks for.

schema::dialect_rules! {
    UNREADABLE = "template-unreadable", Error,
        "A Template that cannot be read cannot be processed.",
        "Mend the file at the place named.";
    AMBIGUOUS = "template-dialect", Error,
        "Both notations name declared parameters, so every caller must say which one is meant.",
        "State it in the annotation `formwork/dialect`, or use one notation.";
    OLD_API_VERSION = "template-api-version", Warning,
        "`oc` 4.17 and later refuses Templates of apiVersion v1.",
        "Write apiVersion: template.openshift.io/v1.";
    PARAMETER_NAME = "parameter-name", Error,
        "A reference can only name letters, digits and _, so a parameter of another name is never used.",
        "Rename the parameter.";
    PARAMETER_TWICE = "parameter-duplicate", Error,
        "Of two declarations of one name the last counts, and a value given for the first was lost in the original.",
        "Remove one of the declarations.";
    PARAMETER_UNUSED = "parameter-unused", Warning,
        "A value given for it changes nothing.",
        "Refer to it, or remove it.";
    PARAMETER_UNDESCRIBED = "parameter-description", Info,
        "Whoever fills in the form has only the name to go by.",
        "Add a description.";
    TYPE_MISMATCH = "parameter-type", Error,
        "The default does not fit the type, so processing fails unless another value is given.",
        "Change the default or the type.";
    SECRET_DEFAULT = "parameter-secret-default", Warning,
        "A secret that is written in the template is the same everywhere, and known.",
        "Generate it, or require it.";
    GENERATOR_BROKEN = "generator-broken", Error,
        "The value cannot be generated, so processing fails unless one is given.",
        "Write a class that ends in a range, and a length from 1 to 255: [a-zA-Z0-9]{16}.";
    GENERATOR_CONSTANT = "generator-constant", Error,
        "Without a class and a length the text itself is the value: a password anybody can read.",
        "Add a length to the class, and use letters, digits, - and \\ only: [a-zA-Z0-9]{16}.";
    GENERATOR_WEAK = "generator-weak", Warning,
        "A secret with less than 64 bits of chance can be guessed.",
        "Make it longer: [a-zA-Z0-9]{16} has 95 bits.";
    UNDEFINED = "reference-undefined", Warning,
        "The reference stays in the objects as it is written.",
        "Declare the parameter, or mend the name.";
    UNQUOTED_WITHIN = "reference-unquoted-within", Warning,
        "${{P}} is replaced only where it is the whole text; here it stays as it is written.",
        "Use ${P} within a text.";
    CONFLICT = "reference-conflict", Error,
        "The kubelet expands $(NAME) too, so the reference has two meanings.",
        "Rename the parameter or the environment variable.";
    OBJECT_INCOMPLETE = "object-incomplete", Error,
        "An object without apiVersion, kind or name cannot be created.",
        "Add what is missing.";
    FIXED_NAMESPACE = "object-namespace", Warning,
        "A namespace that is written out is removed on processing.",
        "Remove it, or make it a parameter: ${NAMESPACE}.";
    UNDESCRIBED = "template-description", Info,
        "Nobody who finds the template is told what it is for.",
        "Add a `description` and an `openshift.io/display-name` annotation.";
}
