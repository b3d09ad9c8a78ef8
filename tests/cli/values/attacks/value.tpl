{{ toJson .a }}
