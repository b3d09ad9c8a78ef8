//! What the index knows of a template: one document, made from its latest version.
//!
//! The schema of the index is here too, with a fingerprint of everything that decides what documents look like: an
//! index of another fingerprint is not opened but built anew beside it.

use schema::Digest;
use tantivy::TantivyDocument;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use super::{ask, words};
use crate::snapshot::TemplateSnapshot;

/// Raise when documents are made differently though the schema is the same.
const FORMAT: u32 = 2;
/// Bytes of a README that are indexed.
pub(crate) const README: usize = 64 << 10;
/// Bytes of description and README that snippets are cut from, and of parameters.
const EXCERPT: usize = 8 << 10;
const EXCERPT_PARAMETERS: usize = 2 << 10;
/// What stands for the root collection, which has no name.
pub(super) const ROOT: &str = "/";

/// The fields of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// Registry, collection, template, joined by line ends: what a document is found and replaced by.
    pub(super) key: Field,
    pub(super) registry: Field,
    pub(super) collection: Field,
    pub(super) kind: Field,
    pub(super) health: Field,
    /// Kinds of objects in lower case, to narrow by, and as they are written, to be counted.
    pub(super) object_kind: Field,
    pub(super) object: Field,
    pub(super) tag: Field,
    /// The name without case and joints, and the same by stems.
    pub(super) whole: Field,
    pub(super) whole_stems: Field,
    pub(super) name: Field,
    pub(super) name_stems: Field,
    /// Every word but the README's, as written: for beginnings of words and for finding out what was mistyped.
    pub(super) words: Field,
    pub(super) title: Field,
    pub(super) description: Field,
    pub(super) tags: Field,
    pub(super) objects: Field,
    pub(super) place: Field,
    pub(super) parameters: Field,
    pub(super) readme: Field,
    /// Words that stand beside each other in a title, a tag, or the description, by their stems.
    pub(super) pairs: Field,
    pub(super) excerpt: Field,
    /// The first bytes of the name, its length, and a number from the key: what hits of one score are ordered by.
    pub(super) order_name: Field,
    pub(super) order_length: Field,
    pub(super) order_key: Field,
    /// How many words the name has: of two templates that are found alike, the one with less to its name is the more
    /// general.
    pub(super) name_words: Field,
    /// 0 in use, 1 deprecated, 2 withdrawn.
    pub(super) standing: Field,
}

impl Fields {
    /// The fields that say what a template is: how rare a word is, is told by these. Every other template has a
    /// parameter for its memory; that makes no description with the word less telling.
    pub(super) fn telling(&self) -> [Field; 6] {
        [self.name_stems, self.title, self.tags, self.description, self.objects, self.place]
    }

    /// All fields whose words are stems.
    pub(super) fn texts(&self) -> impl Iterator<Item = Field> + use<> {
        self.telling().into_iter().chain([self.parameters, self.readme])
    }
}

/// The schema and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let text = |analyzer, record| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default().set_tokenizer(analyzer).set_index_option(record),
        )
    };
    let stems = || text(words::STEMS, IndexRecordOption::WithFreqs);
    let plain = || text(words::PLAIN, IndexRecordOption::Basic);
    let facet = || STRING.set_fast("raw");
    let number = || NumericOptions::default().set_fast();
    let fields = Fields {
        key: builder.add_text_field("key", STRING | STORED),
        registry: builder.add_text_field("registry", facet()),
        collection: builder.add_text_field("collection", facet()),
        kind: builder.add_text_field("kind", facet()),
        health: builder.add_text_field("health", facet()),
        object_kind: builder.add_text_field("object_kind", STRING),
        object: builder.add_text_field("object", TextOptions::default().set_fast("raw")),
        tag: builder.add_text_field("tag", facet()),
        whole: builder.add_text_field("whole", STRING),
        whole_stems: builder.add_text_field("whole_stems", STRING),
        name: builder.add_text_field("name", plain()),
        name_stems: builder.add_text_field("name_stems", stems()),
        words: builder.add_text_field("words", plain()),
        title: builder.add_text_field("title", stems()),
        description: builder.add_text_field("description", stems()),
        tags: builder.add_text_field("tags", stems()),
        objects: builder.add_text_field("objects", stems()),
        place: builder.add_text_field("place", stems()),
        parameters: builder.add_text_field("parameters", stems()),
        readme: builder.add_text_field("readme", stems()),
        pairs: builder.add_text_field("pairs", STRING),
        excerpt: builder.add_text_field("excerpt", STORED),
        order_name: builder.add_u64_field("order_name", number()),
        order_length: builder.add_u64_field("order_length", number()),
        order_key: builder.add_u64_field("order_key", number()),
        name_words: builder.add_u64_field("name_words", number()),
        standing: builder.add_u64_field("standing", number()),
    };
    (builder.build(), fields)
}

/// A name for the format: of the schema, of how texts become words, of how documents are made.
pub(super) fn fingerprint() -> String {
    let (schema, _) = schema();
    let schema = serde_json::to_string(&schema).expect("a schema is plain data");
    let text =
        format!("{FORMAT} {} {README} {EXCERPT} {EXCERPT_PARAMETERS} {schema}", tantivy::version_string());
    Digest::of(text.as_bytes()).hex()[..16].to_owned()
}

/// The document of a template; `None` if no version of it is listed.
pub(super) fn document(
    fields: &Fields,
    template: &TemplateSnapshot,
    readme: Option<&str>,
) -> Option<TantivyDocument> {
    let version = template.latest()?;
    let facts = &version.inspection;
    let location = &template.location;
    let name = template.name.as_str();
    let collection = location.collection.as_ref().map_or(ROOT, |collection| collection.as_str());
    let place = format!("{collection} {}", location.registry);
    let key = ask::key(location);
    let readme = readme.map(plain_text).unwrap_or_default();
    let parameters = parameters(&facts.parameters);
    let mut document = TantivyDocument::default();
    let mut add = |field, text: &str| {
        if !text.is_empty() {
            document.add_text(field, text);
        }
    };
    add(fields.key, &key);
    add(fields.registry, location.registry.canonical());
    add(fields.collection, collection);
    add(fields.kind, version.kind.as_str());
    add(fields.health, version.health().as_str());
    let whole = words::whole(name);
    add(fields.whole, &whole);
    words::whole_stems(name).iter().for_each(|stems| add(fields.whole_stems, stems));
    add(fields.name, name);
    add(fields.name_stems, name);
    add(fields.title, facts.title.as_deref().unwrap_or_default());
    let description = facts.description.as_deref().unwrap_or_default();
    add(fields.description, description);
    let titled = [facts.title.as_deref().unwrap_or_default(), description];
    for text in titled.into_iter().chain(facts.tags.iter().map(String::as_str)) {
        words::pairs(text).iter().for_each(|pair| add(fields.pairs, pair));
    }
    add(fields.place, &place);
    add(fields.parameters, &parameters);
    add(fields.readme, &readme);
    for kind in &facts.object_kinds {
        add(fields.object_kind, &kind.to_lowercase());
        add(fields.object, kind);
    }
    facts.tags.iter().for_each(|tag| add(fields.tag, tag));
    let tags = facts.tags.join(" ");
    let objects = facts.object_kinds.join(" ");
    add(fields.tags, &tags);
    add(fields.objects, &objects);
    let kind = version.kind.title();
    for text in [
        name,
        facts.title.as_deref().unwrap_or_default(),
        description,
        &tags,
        &objects,
        &place,
        &parameters,
        kind,
    ] {
        add(fields.words, text);
    }
    // A snippet is cut from one line.
    let texts = format!("{}\n{readme}", plain_text(description));
    let excerpt = format!("{}\n{}", beginning(&texts, EXCERPT), beginning(&parameters, EXCERPT_PARAMETERS));
    add(fields.excerpt, &excerpt);
    let standing = match (&version.withdrawn, &version.deprecated) {
        (Some(_), _) => 2,
        (None, Some(_)) => 1,
        (None, None) => 0,
    };
    document.add_u64(fields.standing, standing);
    document.add_u64(fields.name_words, words::runs(name).len() as u64);
    document.add_u64(fields.order_name, name_order(name));
    document.add_u64(fields.order_length, whole.len() as u64);
    document.add_u64(fields.order_key, key_order(&key));
    Some(document)
}

/// The first eight bytes of a name without case: ordered as names are, as far as they go.
fn name_order(name: &str) -> u64 {
    let lower = name.to_ascii_lowercase();
    let mut bytes = [0; 8];
    for (byte, of_name) in bytes.iter_mut().zip(lower.bytes()) {
        *byte = of_name;
    }
    u64::from_be_bytes(bytes)
}

fn key_order(key: &str) -> u64 {
    let digest = Digest::of(key.as_bytes());
    let (first, _) = digest.as_bytes().split_first_chunk::<8>().expect("a digest has 32 bytes");
    u64::from_be_bytes(*first)
}

/// Names, titles and descriptions of parameters, a line each; of nested ones too, as far as a person would look.
fn parameters(schema: &serde_json::Value) -> String {
    fn collect(schema: &serde_json::Value, depth: usize, out: &mut String) {
        let Some(properties) = schema.get("properties").and_then(|properties| properties.as_object()) else {
            return;
        };
        for (name, property) in properties {
            let said = ["title", "description"].into_iter().filter_map(|key| text_of(property, key));
            let said = said.collect::<Vec<_>>().join(". ").split_whitespace().collect::<Vec<_>>().join(" ");
            out.push_str(name);
            out.push_str(if said.is_empty() { "" } else { ": " });
            out.push_str(&said);
            out.push('\n');
            if depth < 4 && out.len() < README {
                collect(property, depth + 1, out);
            }
        }
    }
    fn text_of<'a>(property: &'a serde_json::Value, key: &str) -> Option<&'a str> {
        property.get(key)?.as_str()
    }
    let mut out = String::new();
    collect(schema, 0, &mut out);
    let end = beginning(&out, README).len();
    out.truncate(end);
    out
}

/// A Markdown text without most of its marks and with single spaces, as a snippet shows it.
fn plain_text(text: &str) -> String {
    let text = text.replace(['#', '*', '`', '|', '>', '<', '[', ']', '\r'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first bytes of a text, cut between characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_far_as_eight_bytes_go() {
        assert!(name_order("alpha") < name_order("Beta"));
        assert!(name_order("redis") < name_order("redis-x"));
    }

    #[test]
    fn parameters_are_read_to_some_depth() {
        let schema = serde_json::json!({"properties": {"size": {"description": "How large", "properties": {"inner": {"title": "Within"}}}}});
        assert_eq!(parameters(&schema), "size: How large\ninner: Within\n");
        assert_eq!(parameters(&serde_json::Value::Null), "");
    }

    #[test]
    fn marks_are_left_out_of_excerpts() {
        assert_eq!(plain_text("# Redis\n\n*fast*  `store`"), "Redis fast store");
        assert_eq!(beginning("aä", 2), "a");
    }
}
