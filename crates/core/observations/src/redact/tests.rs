use super::redacted;

/// Each text has the secret in it, whole or in parts.
#[test]
fn no_part_of_a_password_stays_and_all_else_does() {
    for (text, shown) in [
        ("postgres://u:S3c@h/d", "postgres://u:***@h/d"),
        ("see POSTGRES://u:S3c@h:5/d?a=b, please", "see POSTGRES://u:***@h:5/d?a=b, please"),
        ("mysql://u:S3c@", "mysql://u:***@"),
        ("u:S3c@h", "u:***@h"),
        ("postgres://u:S3c", "postgres://u:***"),
        ("u:S3c@: not found", "u:***@: not found"),
        ("results/postgres:/u:S3c@h.html", "results/postgres:******@h.html"),
        (":S3c@h u:S3c@", ":***@h u:***@"),
        ("is it u:S3c@? (u:S3c@!)", "is it u:***@? (u:***@!)"),
        ("postgres://u:S?3/c@h", "postgres://u:*****@h"),
        ("postgres://u:S@3@c@h", "postgres://u:*****@h"),
        ("mariadb://u@h/x:%2fu:S3c%40h", "mariadb://u@h/x:********%40h"),
        (r#""url": "postgres:\/\/u:S3c@h""#, r#""url": "postgres:\/\/u:***@h""#),
        (r"postgres://u\u003aS3c@h", r"postgres://u\u003a***@h"),
        ("host=h password=S3c user=u", "host=h password=*** user=u"),
        ("host=h password = 'S 3\\'c' user=u", "host=h password = '******' user=u"),
        ("host=h passwd=S3\\ c", "host=h passwd=*****"),
        ("host=h password=S3 c user=u", "host=h password=**** user=u"),
        ("postgres://h?pass%77ord=S3c&a=b", "postgres://h?pass%77ord=***&a=b"),
        (r#"{"pass\u0077ord": "S\"3c", "a": 1}"#, r#"{"pass\u0077ord": "*****", "a": 1}"#),
        (r#""{\"password\": \"S3c\", \"a\": 1}""#, r#""{\"password\": \"***\", \"a\": 1}""#),
        ("PGPASSWORD=S3c psql -h h", "PGPASSWORD=*** psql -h h"),
        ("export MYSQL_PWD='S3c'; x", "export MYSQL_PWD='***'; x"),
        ("tool --password S3c --db d", "tool --password *** --db d"),
        ("tool --password=S3c", "tool --password=***"),
        ("ALTER ROLE a PASSWORD 'S3c'", "ALTER ROLE a PASSWORD '***'"),
        (r#"{"token": 371, "a": 1}"#, r#"{"token": ***, "a": 1}"#),
        ("AWS_SECRET_ACCESS_KEY=S3c", "AWS_SECRET_ACCESS_KEY=***"),
        ("url = \"host=h password='S3c\"", "url = \"host=h password='****"),
        ("password = [\"S3c\", 'S]3c'] # a", "password = [*************] # a"),
        (r#""{\"token\": [\"S3\"], \"a\": 1}""#, r#""{\"token\": [******], \"a\": 1}""#),
        (
            "command = [\"tool\", \"--password\", \"S3c\", \"x\"]",
            "command = [\"tool\", \"--password\", \"***\", \"x\"]",
        ),
        ("password = \"\"\"S\"3c\"\"\" # a", "password = \"\"\"****\"\"\" # a"),
    ] {
        assert_eq!(redacted(text), shown, "{text}");
        assert_eq!(redacted(shown), shown, "twice");
    }
}

#[test]
fn what_is_no_password_stays() {
    for text in [
        "postgres://user@host:5432/database",
        "no engine has mongodb://; known are postgres://, http://h:80/x and http://[::1]:80",
        "host=h port=5432 user=u dbname=d",
        "password_encryption = 'scram-sha-256'",
        "tip: to pass '--output' as a value, use '-- --output'",
        "FATAL: password authentication failed for user \"u\"",
        "a password is asked for: give one in PGPASSWORD or ~/.pgpass",
        "SELECT tags::jsonb @> '[]', a::text@>b FROM t -- e.toml:8:15",
        "PGPASSWORD=$PGPASSWORD psql --password -h h",
        "log_line_prefix = '%t:%r:%u@%d:[%p]:'",
        "git@example.org:owner/name 12:30 a@b",
        "%zz \\u00 \\ % \\u",
        "",
    ] {
        assert_eq!(redacted(text), text);
    }
}

/// A secret.
const SECRET: &str = "Zq7vS3CRETx9";

/// Command lines with a secret, §, of which all else stays.
const COMMANDS: &[&str] = &[
    // MySQL and MariaDB
    "mysql -p§",
    "mysql -u root -p§ shop -e 'select 1'",
    "mysql -Nsp'§' shop",
    "mysql '-p§' shop",
    "/usr/bin/mariadb -p\"§\"",
    "mysqldump --password=§ shop > dump.sql",
    "mariadb-dump --password § shop",
    "mysqladmin -uroot -p§ ping",
    "MYSQL_PWD=§ mysql -u root",
    "mysqlsh root:§@h",
    "mydumper -u u -p § -o dir",
    "mycli -p §",
    // PostgreSQL
    "PGPASSWORD=§ psql -h h",
    "env PGPASSWORD='a § b' pg_dump shop",
    "psql postgresql://u:§@h/d",
    "psql \"host=h password=§\"",
    "psql \"host=h password='a §' user=u\"",
    "pg_dump --dbname=postgresql://u:§@h:5432/d",
    "pgbench -T 10 'postgres://u:§@h/d'",
    "pgbench 'postgres://u:a § b@h/d'",
    "pgbench postgres://u:a\\ §@h/d",
    "psql 'postgres://u:a\"§@h/d'",
    "psql \"postgres://u:a'§@h/d\" -c 'select 1'",
    "psql postgres://h/d?user=u\\&password=§",
    // SQL Server
    "sqlcmd -S h -U sa -P § -Q 'select 1'",
    "sqlcmd -S h -U sa -P§",
    "sqlcmd -S h /U sa /P §",
    "sqlcmd /P§",
    "sqlcmd.exe -P \"a § b\"",
    "SQLCMDPASSWORD=§ sqlcmd -S h",
    "bcp shop.dbo.t out f -S h -U sa -P § -c",
    "tsql -S h -U sa -P §",
    "Server=h;User Id=sa;Password=§",
    // Oracle, Db2
    "sqlplus u/§@db",
    "sqlplus -s u/§@//h:1521/service @report.sql",
    "expdp userid=u/§ dumpfile=d.dmp",
    "db2 connect to shop user u using §",
    // Others with SQL
    "clickhouse-client --password § -q 'select 1'",
    "duckdb -c \"ATTACH 'postgres:host=h password=§' AS p\"",
    "beeline -u jdbc:hive2://h:10000 -n u -p §",
    "java -jar b.jar 'jdbc:mysql://h/d?user=u&password=§&a=b'",
    "impala-shell -l --ldap_password_cmd='§'",
    "cqlsh -u u -p § h",
    "sysbench --mysql-password=§ oltp_read_only run",
    "diset connection mssqls_pass §",
    "diset tpcc pg_superuserpass §",
    // Redis, MongoDB and others
    "redis-cli -a § ping",
    "redis-cli --pass § ping",
    "redis-cli -u redis://:§@h:6379",
    "redis-cli AUTH §",
    "redis-server --requirepass § --port 1",
    "mongosh -u u -p §",
    "mongosh mongodb://u:§@h/d",
    "mongodump --password=§",
    "etcdctl --user root:§ get k",
    "influx -username u -password §",
    // Shells and their neighbours
    "sshpass -p § ssh -p 22 h",
    "sshpass -p§ ssh h 'mkdir -p x'",
    "sudo -u u mysql -p§",
    "timeout 5 mysql -p§",
    "cd x && mysql -p§; ls -p a",
    "docker exec -it db mysql -p§",
    "sh -c 'mysql -p§ shop' && cp -p a b",
    "sh -c \"mysql -p'§' shop\" && cp -p a b",
    "sh -c \"mysql -p\\\"§\\\" shop\"",
    "bash -c 'mysql -p'\\''a § b'\\'' shop'",
    "sh -c 'sqlcmd -P \"a §\" -Q \"select 1\"'",
    "{\"command\": \"sh -c \\\"sqlcmd -P § -b\\\"\", \"a\": 1}",
    "command = [\"mysql\", \"-p§\", \"shop\"]",
    "[\"sqlcmd\", \"-P\", \"§\", \"-b\"]",
    "the command `mysql -p§` ended with exit code 1",
    "for i in 1 2; do mysql -p§ -e 'select 1' | wc -l; done",
    // HTTP and files
    "curl -u u:§ http://h/x",
    "curl -sSu u:§ -o f http://h/x",
    "curl -uu:§ http://h/x",
    "curl --user u:§ http://h/x",
    "curl --user=u:§ http://h/x",
    "curl --proxy-user u:§ http://h/x",
    "curl -H \"Authorization: Bearer §\" http://h/x",
    "curl -H 'Authorization: Basic §' http://h/x",
    "curl -H 'X-Api-Key: §' http://h/x",
    "curl --header \"X-Auth-Token:§\" http://h/x",
    "curl -b x -H 'Cookie: §' http://h/x",
    "curl --oauth2-bearer § http://h/x",
    "curl 'http://h/x?token=§&a=b'",
    "http -a u:§ http://h/x",
    "wget --user=u --password=§ http://h/x",
    "wget --http-password § http://h/x",
    "curl ftp://u:§@h/x",
    "lftp -u u,§ h",
    "smbclient -U u%§ //h/s",
    "smbclient --user=u%§ //h/s",
    "RSYNC_PASSWORD=§ rsync -a x h::y",
    "rsync --password § x rsync://u@h/y",
    "git clone https://u:§@h/x.git",
    "git clone https://§@h/x.git",
    "echo ghp_§",
    "agent --broker nats://§@h:4222",
    "wget http://§@h:80/x?a=b",
    "curl --cookie § http://h/x",
    "curl -b session=§ http://h/x",
    "tool --basic-auth u:§ x",
    "tool --basic-auth=u:§ x",
    "smbclient //h/s §",
    "isql dsn sa § -b",
    "waits h:5432:d:u:§",
    "echo github_pat_§",
    "mount -t cifs -o username=u,password=§ //h/s m",
    // Keys and clouds
    "AWS_SECRET_ACCESS_KEY=§ aws s3 ls",
    "aws configure set aws_secret_access_key §",
    "az storage blob list --account-key § --account-name a",
    "az login -u u -p §",
    "az storage list --connection-string 'A=b;AccountKey=§'",
    "gcloud sql users set-password u --password=§",
    "tool --token § --db d",
    "tool --api-key=§",
    "tool --api-key 'a §'",
    "consul kv get -token=§ k",
    "kubectl --token § get pods",
    "kubectl create secret generic s --from-literal=k=§",
    "docker run -e MYSQL_ROOT_PASSWORD=§ -p 80:80 mysql",
    "docker login -u u -p § h",
    "vault login §",
    "vault login -no-print §",
    "VAULT_TOKEN=§ vault kv get s",
    "vault kv put s/x password=§",
    "openssl enc -aes-256-cbc -pass pass:§ -in f",
    "openssl rsa -passin pass:§ -in f",
    "openssl enc -k § -in f",
    "keytool -list -storepass §",
    "gpg --batch --passphrase § -c f",
    "zip -P § a.zip f",
    "7z a -p§ a.7z f",
    "plink -pw § h",
    "ldapsearch -x -D cn=a -w §",
    "-----BEGIN RSA PRIVATE KEY-----\n§\n-----END RSA PRIVATE KEY-----",
    // Statements
    "mysql -e \"CREATE USER u IDENTIFIED BY '§'\"",
    "CREATE USER u IDENTIFIED WITH mysql_native_password BY '§' REQUIRE SSL",
    "ALTER USER u IDENTIFIED VIA ed25519 USING PASSWORD('§')",
    "create user u identified by § account unlock",
    "GRANT ALL ON *.* TO u@h IDENTIFIED BY PASSWORD '§'",
    "psql -c \"ALTER USER u PASSWORD '§'\"",
    "psql -c \"CREATE ROLE u LOGIN ENCRYPTED PASSWORD E'§' VALID UNTIL '2030-01-01'\"",
    "ALTER LOGIN sa WITH PASSWORD = N'§', CHECK_POLICY = OFF",
    "SET PASSWORD FOR 'u'@'h' = '§'",
    "SET PASSWORD FOR u = PASSWORD('§')",
    "CREATE SECRET s (TYPE s3, KEY_ID 'k', SECRET '§')",
    "PRAGMA key = '§'",
    "ALTER ROLE u PASSWORD 'a''§'",
    // Names with a number or a stage, and names that say so less
    "mysql -u root --password1=§ shop",
    "DB_PASSWORD_PROD=§ x",
    "DB_PASSWORD_2=§ x",
    "SSHPASS=§ sshpass -e ssh h",
    "REDISCLI_AUTH=§ redis-cli ping",
    "SECRET_KEY_BASE=§ x",
    "tool --credentials § x",
    "tool --pw § x",
    "setx PGPASSWORD §",
    "curl -d '{\"credential\": \"§\"}' http://h",
    // Values that stand apart from their names
    "services:\n  db:\n    POSTGRES_PASSWORD: §\n    POSTGRES_USER: u",
    "x: y\nspring.datasource.password: §",
    "{user: u, password: §, host: h}",
    "- name: PGPASSWORD\n  value: §",
    "{\"name\": \"PGPASSWORD\", \"value\": \"§\"}",
    "<add key=\"Password\" value=\"§\"/>",
    "<user>u</user><password>§</password>",
    "<property name=\"hibernate.connection.password\">§</property>",
    "machine h login u password §",
    "echo 'h:5432:d:u:§' >> ~/.pgpass",
    "*:*:*:u:§\n",
    "port 1\nrequirepass §",
    // Queries of URLs, and tokens
    "azcopy copy x 'https://h/c?sv=2020&sig=§&x=y'",
    "curl 'https://h/?key=§'",
    "SharedAccessSignature=sv=2020&sig=§",
    "echo sk-proj-§",
    // Oracle, Db2, Teradata and others
    "sqlplus sys/§ as sysdba",
    "sqlplus u/§",
    "sqlplus 'u[proxy]/§@h'",
    "sqlplus sys/\"§\"@h @x.sql",
    "rman target=/ catalog=u/§@h",
    "sqlldr u/§ control=x",
    "exp u/§@h file=x",
    "connect u/§@h as sysdba",
    "db2 \"connect to d user u using §\"",
    ".logon h/u,§",
    "hdbsql -u SYSTEM -p § -n h",
    "exaplus -u u -P § -c h",
    "vsql -w§ -U u",
    "nzsql -u u -pw § -d d",
    "sqlpackage /SourceUser:sa /SourcePassword:§ /tf:x",
    "mssql-cli -S h -U u -P §",
    "mysqladmin -u root password §",
    "go-tpc tpcc -h h -p§ run",
    "cypher-shell -u u -p §",
    "neo4j-admin dbms set-initial-password §",
    "nodetool -u u -pw § status",
    "couchbase-cli bucket-list -c h -u u -p §",
    "memtier_benchmark -a § -s h",
    "redis-cli -h h AUTH u §",
    "rabbitmqctl change_password u §",
    "mc alias set m http://h:9000 u §",
    "vault operator unseal §",
    "az postgres flexible-server connect -n s -u u -p § -d d",
    "az cosmosdb keys list --key §",
    "az sql db export --storage-key § -n d",
    "aws configure set default.aws_secret_access_key §",
    "ab -A u:§ http://h/",
    "hey -a u:§ http://h",
    "htpasswd -nb u §",
    "curl -H 'Ocp-Apim-Subscription-Key: §' http://h",
    "curl -H 'X-ClickHouse-Key: §' http://h",
    // Statements
    "ALTER ROLE u PASSWORD $$§$$",
    "ALTER ROLE u PASSWORD $x$§$x$ LOGIN",
    "ALTER ROLE u PASSWORD U&'§'",
    "SELECT pgp_sym_encrypt(x, '§')",
    "SELECT * FROM OPENROWSET('MSOLEDBSQL', 'h';'u';'§', 'select 1')",
    "ATTACH 'x.db' AS x KEY '§'",
    // Percona Toolkit, unixODBC, Firebird, Db2 and others
    "pt-query-digest -p § x",
    "pt-online-schema-change h=h,D=d,t=t,u=u,p=§ --alter x",
    "pt-archiver --source h=h,D=d,t=t,p=§,u=u --purge",
    "maxctrl -u u -p § list servers",
    "isql dsn u §",
    "isql-fb -u u -p § d.fdb",
    "gbak -user u -pas § d.fdb d.fbk",
    "db2 \"attach to n user u using §\"",
    "db2look -d d -u u -i u -w § -e",
    "db2batch -d d -a u/§ -f x",
    "tdload -u u -p § -h h",
    "dsbulk load -u u -p § -k k",
    "sqlpackage /sp:§ /su:u",
    "dtexec /f x /de §",
    "redis-cli ACL SETUSER u on '>§' ~x",
    "etcdctl user add §",
    // Systems, files and clouds
    "openssl passwd -6 §",
    "openssl dgst -hmac § f",
    "net use \\\\h\\s § /user:u",
    "rdesktop -u u -p § h",
    "xfreerdp /u:u /p:§",
    "schtasks /create /ru u /rp § /tn x",
    "ldappasswd -s § -w a",
    "cargo login §",
    "rar x -hp§ f",
    "pdftk x input_pw § output y",
    "snmpget -v3 -u u -A § h x",
    "snmpwalk -v2c -c § h",
    "swaks --to x -ap §",
    "ncftpget -u u -p § h x",
    "lftp -e 'open -u u,§ h'",
    "oha -a u:§ http://h",
    "aws s3 cp x y --sse-c-key §",
    "az keyvault secret set --name x --value § --vault-name v",
    "doctl auth init -t §",
    "consul members -http-auth=u:§",
    "p4 -u u -P § sync",
    "wpa_passphrase ssid §",
    "nmcli dev wifi connect s password §",
    "ConvertTo-SecureString '§' -Force",
    "ConvertTo-SecureString -String § -Force",
    // Statements
    "ALTER USER u IDENTIFIED BY 'a' REPLACE '§'",
    "ADMINISTER KEY MANAGEMENT SET KEY IDENTIFIED BY §",
    "psql -c \"SELECT crypt('§', gen_salt('bf'))\"",
    "SELECT hmac('x', '§', 'sha1')",
    "SELECT PWDENCRYPT('§')",
    "SELECT aes_encrypt(x, '§', 'iv')",
    "sqlcmd -Q \"EXEC sp_addlogin 'u', '§'\"",
    "EXEC sp_addlinkedsrvlogin 's', 'false', NULL, 'u', '§'",
    "SELECT * FROM mysql('h:1', 'd', 't', 'u', '§')",
    "SELECT * FROM remote('h', d, t, 'u', '§')",
    "SELECT * FROM s3('http://h/x', 'k', '§', 'CSV')",
];

/// Command lines without a secret.
const INNOCENT: &[&str] = &[
    "cp -p a b",
    "mkdir -p dir",
    "ssh -p 22 h",
    "grep -P x f",
    "psql -p 5432 -U u d",
    "docker run -p 80:80 redis",
    "tar -u -f a.tar b",
    "python -u script",
    "sort -u f",
    "curl -o f http://h:80/x",
    "curl -sSL http://h/x -o f",
    "curl -u \"$LOGIN\" http://h/x",
    "mysql -p",
    "mysql -u root -p shop",
    "mysql -p$MYSQL_PWD shop",
    "mysql -p{password} shop",
    "mysql -P 3306 -h h -e 'select 1'",
    "mysql shop < dump.sql | sort -p",
    "mysql --protocol=tcp -h h; cp -p a b",
    "sqlcmd -S h -E -Q 'select 1'",
    "sqlcmd -S h; grep -P x f",
    "sqlplus / as sysdba @/path/report.sql",
    "sqlplus @scripts/report.sql",
    "openssl enc -aes-256-cbc -pass file:/x -in f",
    "openssl speed -evp aes-256-cbc",
    "redis-cli -p 6379 ping",
    "redis-benchmark -q -n 1000 -P 16",
    "sshpass -e ssh -p 22 h",
    "sshpass -f file ssh -p 22 h",
    "mongosh --port 1 --eval 'db.x.find()'",
    "vault kv get s/x",
    "az vm list -o table",
    "rsync --password-file=f -a x rsync://u@h/y",
    "kubectl get secret s -o yaml",
    "pgbench -T 10 -S -c 4 postgres://u@h:5432/d",
    "zip -r a.zip f",
    "gzip -k dump.sql",
    "fio --name=x --rw=randread --bs=4k",
    "http://h:8080/x and http://h:80 for bob",
    "git -C x log --author=a@b",
    "git config user.email a@b.c; echo 12:30",
    "SELECT a - b FROM t -- the token of c",
    "rows that are identified by key",
    "an unexpected token: x",
    "the bearer of news",
    "Basic usage: see the manual",
    "awk '{print $1}' f | xargs -n 1 -P 4 echo",
    "require_auth=scram-sha-256 old_passwords=0",
    "tip: password: give one in PGPASSWORD or ~/.pgpass",
    "wrong password: try again with another one",
    "user: u, database: d, host: h",
    "2026-11-24 18:40:50:123:main:info",
    "crates/core/x.rs:12:5:3:4",
    "fe80::1:2:3:4 and [::1]:5432",
    "CREATE TABLE t (key int, value text)",
    "{\"name\":\"PGUSER\",\"value\":\"u\"}",
    "<property name=\"user\">u</property>",
    "GET /run?file=t&run=1&only=x HTTP/1.1",
    "SELECT sum(a) FROM t WHERE pass < 5 AND b > 3",
    "sql/query, exp 1/2, connect to h/d",
    "DO $$ BEGIN END $$",
    "DELETE FROM t USING u WHERE a AND b USING (c)",
    "OPENROWSET(BULK 'f', SINGLE_CLOB)",
    "SELECT aes_encrypt(a, b) FROM t",
    "mc cp a b; redis-cli auth; setx PATH x",
    "ab -n 100 -c 10 http://h/",
    "the credentials: see the manual",
    "pt-query-digest --port 1 slow.log",
    "isql -S h -E -i script.sql",
    "isql dsn -b -d,",
    "SELECT * FROM s3('http://h/x', 'CSV', 'n int')",
    "SELECT remote('x', y), mysql(1, 2), crypt(a, b), hmac(a, b, 'sha256')",
    "SELECT replace(a, 'x', 'y') FROM t",
    "snmpwalk -v3 -u u h",
    "cargo test --workspace -p x",
    "cargo login",
    "xfreerdp /v:h /u:u",
    "open data.csv; net use; nmcli dev status",
    "az vm list --value-only; openssl passwd -stdin",
    "one-pass: read",
    "docker run -u 1000:1000 x",
    "sudo -u postgres mkdir -p data",
    "cp -ap a b; date -u +%F",
    "http://h/@scope/x and https://h/x?mail=a@b",
    "mysql://u@h/d and ssh://git@h/x",
    "curl -b jar -c jar http://h/x",
    "smbclient -L h; ssh-keygen -t ed25519",
    "it's mine, isn't it: don't use -p 'a b'",
];

#[test]
fn the_secrets_of_known_forms_are_hidden_and_all_else_stays() {
    for form in COMMANDS {
        let (before, after) = form.split_once('§').unwrap();
        let shown = redacted(&format!("{before}{SECRET}{after}"));
        let expected = format!("{before}{after}");
        // A blank or a quote of the secret itself can be hidden with it.
        let around = |text: &str| text.replace(['a', 'b', '*', ' ', '"', '\'', '\\'], "");
        assert!(!shown.contains("S3C"), "{form}: {shown}");
        assert_eq!(around(&shown), around(&expected), "{form}");
        assert_eq!(redacted(&shown), shown, "twice");
    }
    assert!(COMMANDS.len() >= 60);
}

/// Labels of results are command lines.
#[test]
fn command_lines_without_a_secret_stay() {
    for line in INNOCENT {
        assert_eq!(redacted(line), *line);
    }
}

/// Inside the words of any other program, too, and after any text.
#[test]
fn no_text_around_a_command_uncovers_its_secret() {
    for (before, after) in [
        ("can't run ", ""),
        ("it's \"", "\""),
        ("x = '", "' # it's"),
        ("hyperfine \"", "\" 'true'"),
        ("(", ")"),
        ("echo \"a\" 'b'; ", ";"),
    ] {
        for form in COMMANDS.iter().filter(|form| !form.contains(['\'', '"', '`', '\n'])) {
            let text = format!("{before}{}{after}", form.replace('§', SECRET));
            assert!(!redacted(&text).contains("S3C"), "{text}: {}", redacted(&text));
        }
    }
}

/// Texts that end anywhere, and quotes that nothing closes.
#[test]
fn any_part_of_a_text_is_read() {
    let more = ["PRAGMA key", "PRAGMA key=", "IDENTIFIED BY", "IDENTIFIED WITH", "PASSWORD N'"];
    for text in COMMANDS.iter().chain(INNOCENT).chain(&more) {
        let chars: Vec<char> = text.chars().collect();
        for cut in 0..chars.len() {
            for part in [&chars[..cut], &chars[cut..]] {
                let part: String = part.iter().collect();
                assert_eq!(redacted(&part).chars().count(), part.chars().count());
            }
        }
    }
}

#[test]
fn a_json_document_stays_one() {
    let mut value = serde_json::json!({
        "token": 371, "password": "S3c", "keys": [{ "a": "postgres://u:S3c@h" }, null, 1.5],
        "command": ["sqlcmd", "-P", "S3c \"\\", "-b"], "text": "mysql -pS3c",
    });
    super::redact_json(&mut value);
    let expected = serde_json::json!({
        "token": 371, "password": "***", "keys": [{ "a": "postgres://u:***@h" }, null, 1.5],
        "command": ["sqlcmd", "-P", "******", "-b"], "text": "mysql -p***",
    });
    assert_eq!(value, expected);
}
