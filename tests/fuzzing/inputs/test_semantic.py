"""What a parameter is about: its format, its name, its description."""

import csv
import io

import pytest

from misstep.fuzzing.inputs.semantic import load_topics, topics_for


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("file_path", "path"),
        ("filePath", "path"),
        ("destination", "path"),
        ("output_dir", "directory"),
        ("q", "query"),
        ("searchQuery", "query"),
        ("expr", "expression"),
        ("website_url", "url"),
        ("start_date", "date"),
        ("createdAt", "moment"),
        ("to_email", "email"),
        ("sql", "sql"),
        ("python_code", "python"),
        ("shellCommand", "shell"),
        ("json_string", "json"),
        ("regex", "regex"),
        ("user_id", "identifier"),
        ("session_uuid", "uuid"),
        ("cities", "city"),
        ("country_code", "country"),
        ("targetLanguage", "language"),
        ("latitude", "coordinate"),
        ("background_colour", "colour"),
        ("phone_number", "phone"),
        ("base_currency", "currency"),
        ("amount", "amount"),
        ("package_version", "version"),
        ("hostname", "host"),
        ("ip_address", "ip address"),
        ("serverIp", "ip address"),
        ("network", "network"),
        ("cidr", "network"),
        ("parent_subnet", "network"),
        ("subnet_mask", "subnet mask"),
        ("netmask", "subnet mask"),
        ("prefix_length", "prefix length"),
        ("cidrPrefix", "prefix length"),
        ("port", "port"),
        ("branch_name", "git"),
        ("html", "html"),
        ("csv_data", "csv"),
        ("encoded", "base64"),
        ("markdown", "markdown"),
        ("username", "person"),
        ("max_results", "count"),
        ("timezone", "timezone"),
    ],
)
def test_names_tell_what_a_parameter_is_about(name: str, topic: str) -> None:
    assert topics_for(name)[0].name == topic


@pytest.mark.parametrize(
    ("told", "topic"),
    [
        ("The path to read from.", "path"),
        ("A valid URL, with scheme", "url"),
        ("a mathematical expression", "expression"),
        ("SQL to be carried out", "sql"),
        ("When, as YYYY-MM-DD", "date"),
        ("Number of results", "count"),
        ("The network in CIDR notation", "network"),
        ("An IPv4 address", "ip address"),
    ],
)
def test_descriptions_tell_where_names_do_not(told: str, topic: str) -> None:
    assert topic in [each.name for each in topics_for("zzz", told)]


def test_a_format_tells_most_and_nothing_tells_nothing() -> None:
    assert topics_for("path", "a file path", "uuid")[0].name == "uuid"
    assert topics_for("zzz", "frobnicates") == []
    assert topics_for("", "") == []
    assert topics_for("\ud800\0", "\ud800" * 5000) == []


def test_no_host_names_are_given_for_addresses() -> None:
    for name, form in (("ip", None), ("client_ip_address", None), ("x", "ipv4"), ("x", "ipv6")):
        assert "host" not in [each.name for each in topics_for(name, "", form)]


def test_what_a_text_is_written_in_matters_more_than_a_vague_name() -> None:
    for told in ("CSV", "JSON", "Markdown"):
        assert topics_for("content", f"The {told} to load.")[0].name == told.lower()


def test_ordinary_csv_has_columns_of_texts_and_of_numbers() -> None:
    topic = next(each for each in load_topics() if each.name == "csv")
    header, *rows = csv.reader(io.StringIO(topic.plain[0]))
    assert {"name", "price"} <= {*header}
    for name, price in ((row[header.index("name")], row[header.index("price")]) for row in rows):
        assert name.isalpha()
        assert float(price) > 0


def test_words_are_matched_whole() -> None:
    assert "sql" not in [each.name for each in topics_for("x", "the mysqlite thing")]
    assert "path" not in [each.name for each in topics_for("sympathy")]


def test_every_topic_has_plain_values_and_odd_ones() -> None:
    topics = load_topics()
    assert len({topic.name for topic in topics}) == len(topics)
    for topic in topics:
        assert topic.plain
        assert topic.odd
        assert len(set(map(repr, topic.odd))) == len(topic.odd)
        assert all(isinstance(value, str | int | float | dict) for value in (*topic.plain, *topic.odd))


def test_long_texts_are_told_in_short() -> None:
    (path,) = [topic for topic in load_topics() if topic.name == "path"]
    assert "a" * 300 + ".txt" in path.odd
