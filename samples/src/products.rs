//! What people run, in which words they speak of it, and in which arrangements: the stuff templates are made of.
//!
//! Plain data, all of it our own words. Names of products are those of the products.

/// A program somebody runs.
#[derive(Debug)]
pub(crate) struct Product {
    /// The name of its template.
    pub(crate) name: &'static str,
    /// How it spells itself.
    pub(crate) title: &'static str,
    /// Its collection, as registries with one for each topic have it.
    pub(crate) topic: &'static str,
    /// What it is: the beginning of a sentence.
    pub(crate) what: &'static str,
    /// What people use it for: the end of one.
    pub(crate) uses: &'static str,
    /// The words it is tagged with.
    pub(crate) tags: &'static [&'static str],
    /// Whether it keeps something: a StatefulSet with a volume, and a password.
    pub(crate) keeps: bool,
    /// The port it listens on.
    pub(crate) port: u16,
    /// A parameter only it has: name, title, what it is.
    pub(crate) parameter: (&'static str, &'static str, &'static str),
}

/// An arrangement of a product.
#[derive(Debug)]
pub(crate) struct Flavour {
    /// The end of the template's name; empty for the plain one.
    pub(crate) suffix: &'static str,
    /// How titles say it.
    pub(crate) title: &'static str,
    /// How sentences say it.
    pub(crate) how: &'static str,
    /// What it makes beside a workload and its Service.
    pub(crate) object: Option<(&'static str, &'static str)>,
    /// A parameter it brings.
    pub(crate) parameter: Option<(&'static str, &'static str, &'static str)>,
}

macro_rules! products {
    ($($name:literal, $title:literal, $topic:literal, $what:literal, $uses:literal, [$($tag:literal)*], $keeps:literal, $port:literal, ($p:literal, $pt:literal, $pd:literal);)*) => {
        &[$(Product {
            name: $name, title: $title, topic: $topic, what: $what, uses: $uses, tags: &[$($tag),*], keeps: $keeps, port: $port,
            parameter: ($p, $pt, $pd),
        }),*]
    };
}

pub(crate) const PRODUCTS: &[Product] = products! {
    "nginx", "NGINX", "web", "A web server and reverse proxy", "serving static files and passing requests on to applications", ["web-server" "reverse-proxy" "http"], false, 8080, ("WORKER_CONNECTIONS", "Worker connections", "How many connections one worker process may have open");
    "caddy", "Caddy", "web", "A web server with automatic HTTPS", "small sites that want certificates without thinking of them", ["web-server" "https" "acme"], false, 8080, ("ACME_EMAIL", "ACME address", "The mail address given to the certificate authority");
    "httpd", "Apache HTTP Server", "web", "The Apache web server", "sites that rely on .htaccess files and modules", ["web-server" "apache" "http"], false, 8080, ("DOCUMENT_ROOT", "Document root", "The directory pages are served from");
    "haproxy", "HAProxy", "web", "A load balancer for TCP and HTTP", "spreading connections over several back ends", ["load-balancer" "tcp" "http"], false, 8080, ("MAX_CONNECTIONS", "Connections", "How many connections are accepted at once");
    "varnish", "Varnish", "web", "An accelerator that caches HTTP responses", "taking load off slow content management systems", ["http-cache" "accelerator"], false, 6081, ("CACHE_SIZE", "Cache size", "Memory for cached responses");
    "traefik", "Traefik", "web", "An edge router that finds its services itself", "routing requests by host name and path", ["ingress-controller" "router"], false, 8000, ("ENTRY_POINT", "Entry point", "The name of the port requests come in by");
    "envoy", "Envoy", "web", "A proxy for service meshes", "retries, circuit breaking and tracing between services", ["service-mesh" "proxy" "grpc"], false, 10000, ("ADMIN_PORT", "Admin port", "The port of the administration interface");
    "static-site", "Static site", "web", "A site made of plain files", "documentation and landing pages", ["static" "html" "documentation"], false, 8080, ("SOURCE_REPOSITORY", "Repository", "The Git repository the pages are built from");
    "postgresql", "PostgreSQL", "databases", "A relational database", "transactions, SQL and data that must not be lost", ["database" "sql" "relational" "postgres"], true, 5432, ("SHARED_BUFFERS", "Shared buffers", "Memory the server uses for shared buffers");
    "mysql", "MySQL", "databases", "A relational database much used behind web sites", "SQL for web applications", ["database" "sql" "relational"], true, 3306, ("INNODB_BUFFER_POOL", "Buffer pool", "Memory for cached tables and indexes");
    "mariadb", "MariaDB", "databases", "A relational database that began as a fork of MySQL", "SQL for applications that expect MySQL", ["database" "sql" "mysql-compatible"], true, 3306, ("CHARACTER_SET", "Character set", "The character set of new tables");
    "mongodb", "MongoDB", "databases", "A database of documents", "JSON documents whose form changes often", ["database" "documents" "nosql"], true, 27017, ("OPLOG_SIZE", "Oplog size", "How much of the operation log is kept");
    "cassandra", "Apache Cassandra", "databases", "A wide-column store without a single point of failure", "very many writes over several data centres", ["database" "nosql" "wide-column"], true, 9042, ("DATACENTER", "Data centre", "The name of the data centre the nodes belong to");
    "couchdb", "Apache CouchDB", "databases", "A database that replicates over HTTP", "applications that work offline and reconcile later", ["database" "documents" "offline"], true, 5984, ("UUID_ALGORITHM", "Identifiers", "How identifiers of new documents are made");
    "cockroachdb", "CockroachDB", "databases", "A distributed SQL database", "transactions that survive the loss of a region", ["database" "sql" "distributed"], true, 26257, ("LOCALITY", "Locality", "Where the node is, as region and zone");
    "clickhouse", "ClickHouse", "databases", "A column store for analytics", "reports over billions of rows", ["database" "analytics" "olap"], true, 8123, ("MERGE_TREE_PARTS", "Parts", "How many parts a partition may have before inserts are slowed");
    "influxdb", "InfluxDB", "databases", "A time series database", "measurements of sensors and machines", ["database" "time-series" "iot"], true, 8086, ("RETENTION_HOURS", "Retention", "Hours after which points are dropped");
    "neo4j", "Neo4j", "databases", "A graph database", "questions about how things are connected", ["database" "graph"], true, 7687, ("PAGE_CACHE", "Page cache", "Memory for pages of the graph");
    "redis", "Redis", "caches", "A key-value store in memory", "caches, sessions and short job queues", ["cache" "key-value" "in-memory"], true, 6379, ("MAXMEMORY_POLICY", "Eviction policy", "Which keys are evicted when memory is full");
    "memcached", "Memcached", "caches", "A cache in memory and nothing else", "results of slow queries", ["cache" "in-memory"], false, 11211, ("ITEM_SIZE", "Item size", "The largest item that is stored");
    "valkey", "Valkey", "caches", "A key-value store that continues Redis under an open licence", "caches and sessions", ["cache" "key-value" "redis-compatible"], true, 6379, ("IO_THREADS", "IO threads", "Threads that read and write sockets");
    "hazelcast", "Hazelcast", "caches", "A data grid for Java applications", "maps that are shared between processes", ["cache" "data-grid" "java"], true, 5701, ("BACKUP_COUNT", "Copies", "How many members hold a copy of each entry");
    "dragonfly", "Dragonfly", "caches", "A multi-threaded store that speaks the Redis protocol", "caches too large for one core", ["cache" "in-memory" "redis-compatible"], true, 6379, ("PROACTOR_THREADS", "Threads", "Threads that serve connections");
    "etcd", "etcd", "caches", "A consistent key-value store for configuration", "leader election and service discovery", ["key-value" "consensus" "raft"], true, 2379, ("SNAPSHOT_COUNT", "Snapshot count", "Transactions after which a snapshot is made");
    "kafka", "Apache Kafka", "messaging", "A distributed log of events", "streaming events between services and replaying them later", ["messaging" "streaming" "events"], true, 9092, ("LOG_RETENTION_HOURS", "Log retention", "Hours for which events are retained");
    "rabbitmq", "RabbitMQ", "messaging", "A broker of message queues", "handing tasks to workers with acknowledgements", ["messaging" "queue" "amqp"], true, 5672, ("ERLANG_COOKIE", "Erlang cookie", "The secret nodes of a cluster share");
    "nats", "NATS", "messaging", "A small and fast messaging system", "publish and subscribe between microservices", ["messaging" "pubsub"], false, 4222, ("MAX_PAYLOAD", "Payload", "The largest message that is taken");
    "pulsar", "Apache Pulsar", "messaging", "A messaging platform with tiered storage", "topics of many tenants over several regions", ["messaging" "streaming" "multi-tenant"], true, 6650, ("TENANT", "Tenant", "The tenant whose topics are made");
    "activemq", "Apache ActiveMQ", "messaging", "A message broker for JMS", "integrating Java applications", ["messaging" "queue" "jms" "java"], true, 61616, ("DEAD_LETTER_STRATEGY", "Dead letters", "What becomes of messages nobody could handle");
    "mosquitto", "Eclipse Mosquitto", "messaging", "An MQTT broker", "telemetry of small devices", ["messaging" "mqtt" "iot"], false, 1883, ("MAX_INFLIGHT", "In flight", "Messages that may be on the way to one client");
    "message-queue", "Message queue", "messaging", "A plain work queue over HTTP", "passing jobs from one service to the next", ["queue" "jobs"], true, 8080, ("VISIBILITY_TIMEOUT", "Visibility timeout", "Seconds a message is hidden after it was taken");
    "zookeeper", "Apache ZooKeeper", "messaging", "A coordination service for distributed systems", "locks, election and configuration of clusters", ["coordination" "consensus"], true, 2181, ("TICK_TIME", "Tick", "Milliseconds of a tick");
    "prometheus", "Prometheus", "observability", "A monitoring system that scrapes metrics", "metrics and alerts of everything that runs", ["monitoring" "metrics" "alerts"], true, 9090, ("SCRAPE_INTERVAL", "Scrape interval", "How often targets are scraped");
    "grafana", "Grafana", "observability", "Dashboards for metrics and logs", "graphs that a team looks at", ["dashboards" "monitoring" "visualization"], false, 3000, ("ADMIN_USER", "Administrator", "The name of the first administrator");
    "loki", "Loki", "observability", "A store for logs that indexes only labels", "searching logs of pods", ["logs" "logging"], true, 3100, ("CHUNK_IDLE", "Chunk idle time", "After how long an idle chunk is flushed");
    "tempo", "Tempo", "observability", "A store for distributed traces", "finding out where a request was slow", ["tracing" "traces"], true, 3200, ("BLOCK_RETENTION", "Block retention", "How long blocks of traces are retained");
    "alertmanager", "Alertmanager", "observability", "A dispatcher of alerts", "grouping and silencing alerts, and waking up who is on call", ["alerts" "notifications" "on-call"], false, 9093, ("RECEIVER_URL", "Receiver", "The webhook alerts are sent to");
    "jaeger", "Jaeger", "observability", "A tracing back end", "looking at spans of requests across services", ["tracing" "spans"], false, 16686, ("SAMPLING_RATE", "Sampling rate", "The share of requests that are traced");
    "fluentd", "Fluentd", "observability", "A collector that forwards logs", "shipping logs of every node to one place", ["logs" "collector" "forwarder"], false, 24224, ("FLUSH_INTERVAL", "Flush interval", "How often buffered records are sent");
    "node-exporter", "Node exporter", "observability", "An exporter of hardware and kernel metrics", "watching disks, memory and load of nodes", ["monitoring" "metrics" "hardware"], false, 9100, ("COLLECTORS", "Collectors", "Which collectors are on");
    "uptime-check", "Uptime check", "observability", "A prober that asks web sites whether they answer", "knowing of an outage before customers call", ["monitoring" "probe" "synthetic"], false, 9115, ("PROBE_TARGETS", "Targets", "The URLs that are asked");
    "minio", "MinIO", "storage", "An object storage that speaks S3", "buckets for backups, artifacts and uploads", ["object-storage" "s3" "buckets"], true, 9000, ("BUCKET_NAME", "Bucket", "The bucket that is made at the start");
    "nfs-server", "NFS server", "storage", "A file server for volumes that several pods mount", "shared directories", ["file-storage" "nfs" "shared-volume"], true, 2049, ("EXPORT_PATH", "Export", "The directory that is exported");
    "ceph-gateway", "Ceph gateway", "storage", "A gateway to a Ceph cluster", "objects and buckets on storage you have already", ["object-storage" "ceph"], false, 7480, ("MONITOR_HOSTS", "Monitors", "The monitors of the cluster");
    "seaweedfs", "SeaweedFS", "storage", "A file system for very many small files", "thumbnails, avatars and attachments", ["file-storage" "distributed"], true, 8888, ("REPLICATION", "Replication", "On how many racks and servers a file is kept");
    "image-registry", "Image registry", "storage", "A registry for container images", "keeping images close to the cluster", ["containers" "images" "oci"], true, 5000, ("PROXY_REMOTE_URL", "Upstream", "The registry that is mirrored when an image is not here");
    "backup-agent", "Backup agent", "storage", "An agent that copies volumes to object storage", "disaster recovery", ["backup" "disaster-recovery" "snapshots"], false, 8080, ("BACKUP_SCHEDULE", "Schedule", "When volumes are copied, as cron writes it");
    "sftp", "SFTP server", "storage", "A server for file transfer over SSH", "partners who deliver files at night", ["file-transfer" "ssh"], true, 2222, ("AUTHORIZED_KEYS", "Keys", "The public keys that may log in");
    "vault", "Vault", "security", "A safe for secrets", "passwords, keys and certificates that expire", ["secrets" "encryption" "passwords"], true, 8200, ("UNSEAL_KEY_SHARES", "Key shares", "Into how many shares the unseal key is split");
    "keycloak", "Keycloak", "security", "An identity provider", "single sign-on with OpenID Connect and SAML", ["identity" "sso" "oidc" "saml"], true, 8080, ("REALM", "Realm", "The realm that is imported at the start");
    "dex", "Dex", "security", "An OpenID Connect broker in front of other identity providers", "logging in to clusters with company accounts", ["identity" "oidc" "ldap"], false, 5556, ("ISSUER_URL", "Issuer", "The URL tokens are issued by");
    "oauth2-proxy", "OAuth2 Proxy", "security", "A proxy that asks for a login first", "protecting internal tools that have no accounts", ["authentication" "oauth2" "login"], false, 4180, ("COOKIE_DOMAIN", "Cookie domain", "The domain the session cookie is for");
    "cert-issuer", "Certificate issuer", "security", "An issuer of TLS certificates", "certificates that renew themselves", ["certificates" "tls" "acme"], false, 9402, ("RENEW_BEFORE", "Renew before", "How long before its end a certificate is renewed");
    "falco", "Falco", "security", "A detector of suspicious behaviour at run time", "alarms when a shell opens in a container", ["intrusion-detection" "runtime-security"], false, 8765, ("RULES_FILE", "Rules", "The rules that events are held against");
    "ldap-directory", "LDAP directory", "security", "A directory of people and groups", "accounts that many applications share", ["directory" "accounts" "ldap"], true, 1389, ("BASE_DN", "Base", "The distinguished name everything is below");
    "policy-agent", "Policy agent", "security", "An engine that decides whether a request is allowed", "rules about what may be deployed", ["policy" "authorization" "admission"], false, 8181, ("POLICY_BUNDLE", "Bundle", "Where policies are loaded from");
    "cron", "Cron job", "jobs", "A command that runs by the clock", "chores of every night and every hour", ["schedule" "batch"], false, 8080, ("SCHEDULE", "Schedule", "When the command runs, as cron writes it");
    "airflow", "Apache Airflow", "jobs", "A scheduler of data pipelines", "workflows whose steps depend on each other", ["workflow" "etl" "pipelines"], true, 8080, ("DAGS_FOLDER", "DAGs", "The folder pipelines are read from");
    "workflow-runner", "Workflow runner", "jobs", "A runner of containers in a given order", "builds and data preparation", ["workflow" "containers"], false, 2746, ("PARALLELISM", "Parallelism", "How many steps run at once");
    "spark-history", "Spark history server", "jobs", "A viewer of finished Spark applications", "understanding why a big data job was slow", ["spark" "big-data"], false, 18080, ("EVENT_LOG_DIR", "Event logs", "Where event logs are read from");
    "batch-worker", "Batch worker", "jobs", "A pool of workers that take jobs from a queue", "rendering, importing and other long work", ["batch" "workers" "background"], false, 8080, ("CONCURRENCY", "Concurrency", "How many jobs one worker does at once");
    "nightly-report", "Nightly report", "jobs", "A job that renders a report and mails it", "figures on the desk in the morning", ["report" "schedule" "mail"], false, 8080, ("RECIPIENTS", "Recipients", "Who gets the report");
    "celery", "Celery", "jobs", "A task queue for Python applications", "work that must not hold up a web request", ["task-queue" "python" "background"], false, 5555, ("RESULT_BACKEND", "Results", "Where results of tasks are stored");
    "elasticsearch", "Elasticsearch", "search", "A search engine for documents and logs", "full-text search and log analytics", ["search" "full-text" "logs"], true, 9200, ("HEAP_SIZE", "Heap", "Memory of the Java virtual machine");
    "opensearch", "OpenSearch", "search", "A search engine that continues Elasticsearch under an open licence", "full-text search and dashboards", ["search" "full-text" "analytics"], true, 9200, ("DISCOVERY_SEEDS", "Seeds", "The nodes a new node asks first");
    "solr", "Apache Solr", "search", "A search server on Lucene", "faceted search in catalogues and archives", ["search" "lucene" "facets"], true, 8983, ("CORE_NAME", "Core", "The core that is made at the start");
    "meilisearch", "Meilisearch", "search", "A search engine that answers while you type", "search boxes that forgive typing errors", ["search" "instant" "typo-tolerance"], true, 7700, ("MASTER_KEY", "Master key", "The key other keys are made from");
    "typesense", "Typesense", "search", "A small search engine for instant results", "product search in shops", ["search" "instant"], true, 8108, ("SEARCH_API_KEY", "Search key", "The key that only allows searching");
    "wordpress", "WordPress", "collaboration", "A blog and content management system", "company sites and blogs", ["blog" "cms" "php"], true, 8080, ("WORDPRESS_LOCALE", "Language", "The language of the administration pages");
    "gitea", "Gitea", "collaboration", "A light Git hosting service", "repositories, issues and pull requests of a small team", ["git" "repositories" "code-hosting"], true, 3000, ("SSH_PORT", "SSH port", "The port Git is reached at over SSH");
    "nextcloud", "Nextcloud", "collaboration", "A place for files, calendars and contacts", "sharing files without a foreign cloud", ["files" "calendar" "sharing"], true, 8080, ("TRUSTED_DOMAINS", "Domains", "The host names it answers to");
    "mattermost", "Mattermost", "collaboration", "A team chat", "channels and direct messages", ["chat" "messages" "team"], true, 8065, ("SITE_NAME", "Site name", "What the chat is called");
    "mediawiki", "MediaWiki", "collaboration", "The wiki behind Wikipedia", "knowledge that everybody edits", ["wiki" "knowledge"], true, 8080, ("WIKI_NAME", "Name", "What the wiki is called");
    "discourse", "Discourse", "collaboration", "A forum", "long discussions of a community", ["forum" "community" "discussion"], true, 3000, ("DEVELOPER_EMAILS", "Administrators", "The addresses of the first administrators");
    "ghost", "Ghost", "collaboration", "A publishing platform for newsletters", "blogs with paying subscribers", ["blog" "newsletter" "publishing"], true, 2368, ("SUBSCRIPTION_PLAN", "Plan", "What subscribers pay");
    "redmine", "Redmine", "collaboration", "An issue tracker with projects and time tracking", "planning work and counting hours", ["issue-tracker" "projects" "time-tracking"], true, 3000, ("DEFAULT_TRACKER", "Tracker", "The tracker of new projects");
    "jenkins", "Jenkins", "delivery", "An automation server", "continuous integration of everything with a script", ["ci" "builds" "automation"], true, 8080, ("EXECUTORS", "Executors", "How many builds run at once");
    "build-runner", "Build runner", "delivery", "A runner for continuous integration", "building and testing each commit", ["ci" "runner" "builds"], false, 8080, ("RUNNER_LABELS", "Labels", "What kind of builds it takes");
    "sonarqube", "SonarQube", "delivery", "A platform for code quality", "finding bugs and vulnerabilities in source code", ["code-quality" "static-analysis"], true, 9000, ("QUALITY_GATE", "Quality gate", "What code must reach to pass");
    "nexus", "Nexus Repository", "delivery", "A repository of build artifacts", "Maven, npm and Python packages in one place", ["artifacts" "maven" "npm" "packages"], true, 8081, ("BLOB_STORE", "Blob store", "Where artifacts are kept");
    "webhook-receiver", "Webhook receiver", "delivery", "A small service that takes webhooks", "starting jobs when something was pushed", ["webhooks" "git" "events"], false, 8080, ("HOOK_SECRET", "Secret", "What deliveries are signed with");
    "gitops-controller", "GitOps controller", "delivery", "A controller that keeps a cluster as a Git repository says", "deployments by pull request", ["gitops" "continuous-delivery" "git"], false, 8080, ("SYNC_INTERVAL", "Interval", "How often the repository is looked at");
    "feature-flags", "Feature flags", "delivery", "A service that switches features on and off", "releasing to some customers first", ["feature-toggles" "experiments" "rollout"], true, 4242, ("ENVIRONMENTS", "Environments", "The environments flags are kept for");
    "jupyter", "Jupyter", "machine-learning", "Notebooks for data science", "exploring data with Python", ["notebooks" "python" "data-science"], true, 8888, ("NOTEBOOK_IMAGE", "Image", "The image with the libraries you need");
    "mlflow", "MLflow", "machine-learning", "A tracker of machine learning experiments", "comparing runs and keeping models", ["machine-learning" "experiments" "models"], true, 5000, ("ARTIFACT_ROOT", "Artifacts", "Where models are kept");
    "inference-server", "Inference server", "machine-learning", "A server for predictions of trained models", "models on graphics processors", ["inference" "gpu" "models"], false, 8000, ("GPU_COUNT", "GPUs", "How many graphics processors one pod gets");
    "vector-store", "Vector store", "machine-learning", "A database of embeddings", "finding what is similar in meaning", ["embeddings" "similarity" "vectors"], true, 6333, ("VECTOR_DIMENSION", "Dimension", "How many numbers an embedding has");
    "ray", "Ray", "machine-learning", "A framework for distributed Python", "training on many machines", ["distributed" "python" "training"], false, 8265, ("OBJECT_STORE_MEMORY", "Object store", "Memory for shared objects");
    "postfix", "Postfix", "mail", "A mail relay", "sending mail of applications", ["mail" "smtp" "relay"], false, 2525, ("RELAY_HOST", "Relay host", "The server mail is handed to");
    "roundcube", "Roundcube", "mail", "A mail client in the browser", "reading mail without installing anything", ["mail" "imap" "webmail"], true, 8080, ("IMAP_HOST", "IMAP server", "The server mailboxes are on");
    "mail-catcher", "Mail catcher", "mail", "A trap for mail of test systems", "looking at mail that must not leave", ["mail" "testing" "smtp"], false, 1080, ("CATCH_DOMAIN", "Domain", "The domain whose mail is caught");
    "home-assistant", "Home Assistant", "devices", "A hub for home automation", "lights, heating and sensors", ["home-automation" "iot" "sensors"], true, 8123, ("TIME_ZONE", "Time zone", "The time zone of automations");
    "media-server", "Media server", "devices", "A server for films and music", "streaming a collection to the living room", ["media" "video" "music"], true, 8096, ("LIBRARY_PATH", "Library", "Where films and music are");
    "game-server", "Game server", "devices", "A dedicated server for multiplayer games", "playing with friends", ["games" "multiplayer"], true, 25565, ("MAX_PLAYERS", "Players", "How many may play at once");
};

macro_rules! flavours {
    ($($suffix:literal, $title:literal, $how:literal, $object:expr, $parameter:expr;)*) => {
        &[$(Flavour { suffix: $suffix, title: $title, how: $how, object: $object, parameter: $parameter }),*]
    };
}

/// The plain one first: registries have those before others.
pub(crate) const FLAVOURS: &[Flavour] = flavours! {
    "", "", "", None, None;
    "ha", "highly available", "with three replicas that survive the loss of a node", Some(("policy/v1", "PodDisruptionBudget")), Some(("MIN_AVAILABLE", "Available", "How many replicas must stay up while nodes are drained"));
    "cluster", "cluster", "as a cluster whose members find each other", Some(("v1", "Endpoints")), Some(("CLUSTER_SIZE", "Members", "How many members the cluster has"));
    "replica", "with replicas", "with read replicas that follow the first instance", None, Some(("READ_REPLICAS", "Read replicas", "How many instances only answer reads"));
    "dev", "for development", "for a developer's machine: small, and nothing is kept", None, None;
    "proxy", "behind a proxy", "behind a proxy that pools connections", None, Some(("POOL_SIZE", "Pool", "Connections that are kept open"));
    "exporter", "exporter", "with an exporter of its metrics for Prometheus", Some(("monitoring.coreos.com/v1", "ServiceMonitor")), Some(("METRICS_PORT", "Metrics port", "The port metrics are scraped at"));
    "gateway", "gateway", "open to the outside by host name", Some(("networking.k8s.io/v1", "Ingress")), Some(("HOSTNAME", "Host name", "The name it is reached by from outside"));
    "internal", "internal", "closed to everything but its own namespace", Some(("networking.k8s.io/v1", "NetworkPolicy")), Some(("ALLOWED_NAMESPACE", "Namespace", "The namespace that may connect"));
    "legacy", "legacy", "in the last release of the former series, for applications that were not moved yet", None, None;
    "lite", "lite", "cut down to what fits on the smallest nodes", None, None;
    "backup", "with backups", "with a copy to object storage every night", Some(("batch/v1", "CronJob")), Some(("BACKUP_BUCKET", "Bucket for backups", "The bucket nightly copies go to"));
    "restore", "restore", "filled from a backup when it starts", Some(("batch/v1", "Job")), Some(("RESTORE_FROM", "Backup", "The backup it is filled from"));
    "sidecar", "sidecar", "as a container beside another one", None, None;
    "mirror", "mirror", "as a copy that follows an instance elsewhere", None, Some(("UPSTREAM_HOST", "Upstream", "The instance that is followed"));
    "sharded", "sharded", "in shards, each with a part of the data", None, Some(("SHARDS", "Shards", "Into how many parts the data is split"));
    "staging", "for staging", "as production has it, with a tenth of the resources", None, None;
    "admin", "with an admin page", "with a page to administer it in the browser", None, Some(("ADMIN_HOST", "Admin host", "The host name of the administration page"));
    "public", "public", "with an address of its own from the cloud's load balancer", None, Some(("SOURCE_RANGES", "Sources", "The addresses that may connect"));
    "private", "private", "in a private network with encrypted traffic", None, None;
    "stateful", "with storage", "with volumes that outlive their pods", Some(("v1", "PersistentVolumeClaim")), Some(("VOLUME_SIZE", "Volume", "How large each volume is"));
    "tls", "with TLS", "with certificates that renew themselves", Some(("cert-manager.io/v1", "Certificate")), Some(("ISSUER", "Issuer", "Who issues the certificate"));
    "autoscaled", "autoscaled", "with as many pods as the load needs", Some(("autoscaling/v2", "HorizontalPodAutoscaler")), Some(("TARGET_CPU", "Target", "The share of the processor at which pods are added"));
    "operator", "operator", "run by an operator that upgrades it", Some(("apiextensions.k8s.io/v1", "CustomResourceDefinition")), Some(("WATCH_NAMESPACE", "Watched namespace", "The namespace the operator looks after"));
    "multi-tenant", "multi-tenant", "with a space of its own for every team", Some(("v1", "ResourceQuota")), Some(("TENANTS", "Tenants", "The teams that get a space"));
    "audited", "audited", "with a log of who did what", Some(("v1", "ConfigMap")), Some(("AUDIT_RETENTION", "Audit log", "How long the log of who did what is kept"));
};

/// Sentences READMEs go on with; none says what a template is for.
pub(crate) const NOTES: &[&str] = &[
    "Upgrades keep the name of the Service, so clients need not change.",
    "Requests and limits are the same, which puts the pod into the guaranteed class.",
    "Deleting the objects does not delete what was stored; do that by hand.",
    "The first start takes a minute, for the image is large.",
    "Every object has the label `app`, so one selector finds all of them.",
    "We run this in four clusters and have done so for two years.",
    "Pods are spread over nodes as far as there are nodes.",
    "Liveness is asked for every ten seconds, readiness every five.",
    "Ask in the channel of the platform team before you change the limits.",
    "Versions before v1 were kept elsewhere and are not compatible.",
    "If a pod is killed for its memory, raise MEMORY first.",
    "The image is scanned once a week.",
];

/// Who keeps registries, and where.
pub(crate) const OWNERS: &[(&str, &str)] = &[
    ("github.com", "acme"),
    ("github.com", "globex"),
    ("gitlab.example", "initech"),
    ("github.com", "umbrella-labs"),
    ("git.example", "wayne"),
    ("github.com", "tyrell"),
    ("gitlab.example", "stark"),
    ("github.com", "hooli"),
    ("git.example", "wonka"),
    ("github.com", "cyberdyne"),
    ("gitlab.example", "soylent"),
    ("git.example", "oscorp"),
];

/// What registries are called.
pub(crate) const REPOSITORIES: &[&str] = &["templates", "platform", "catalogue", "blueprints", "kit"];
