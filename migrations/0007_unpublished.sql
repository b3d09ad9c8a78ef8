-- Facts that were written ahead are published all at once: found without a look at those that were published before.
CREATE INDEX revisions_unpublished ON revisions (registry) WHERE published_at IS NULL;
