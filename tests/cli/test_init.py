"""`trainyard init`: all files or none, values that the settings take, our own declarations."""

import pytest
import yaml
from typer.testing import CliRunner

from trainyard.cli.main import app


def test_init_writes_nothing_where_a_file_is_there_already(tmp_path):
    (tmp_path / "policy-pack").mkdir()
    (tmp_path / "policy-pack" / "__main__.py").write_text("mine\n")
    done = CliRunner().invoke(app, ["init", str(tmp_path), "--client", "acme"])
    assert done.exit_code == 2
    assert "policy-pack/__main__.py is there already" in done.output
    assert [path.name for path in tmp_path.rglob("*")] == ["policy-pack", "__main__.py"]
    assert (tmp_path / "policy-pack" / "__main__.py").read_text() == "mine\n"


def test_init_takes_back_what_it_wrote_where_the_rest_cannot_be_written(tmp_path):
    (tmp_path / "policy-pack").write_text("a file where a folder is needed\n")
    done = CliRunner().invoke(app, ["init", str(tmp_path), "--client", "acme"])
    assert done.exit_code == 2
    assert "nothing is" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["policy-pack"]


def test_init_refuses_values_that_the_settings_refuse_all_at_once(tmp_path):
    target = tmp_path / "new"
    options = ["--client", "A B", "--region", "us-est-1", "--team-size", "0", "--stack", "../dev"]
    done = CliRunner().invoke(app, ["init", str(target), *options])
    assert done.exit_code == 2
    for option in ("--client", "--region", "--team-size", "--stack"):
        assert option in done.output
    assert not target.exists()


@pytest.mark.parametrize("client", ["on", "null", "yes"])
def test_init_quotes_what_yaml_would_take_for_something_else(tmp_path, client):
    done = CliRunner().invoke(app, ["init", str(tmp_path), "--client", client])
    assert done.exit_code == 0, done.output
    config = yaml.safe_load((tmp_path / "Pulumi.dev.yaml").read_text())["config"]
    assert config["trainyard:client"] == client
    assert config["pulumi:disable-default-providers"] == ["*"]


def test_init_asks_for_somebody_who_hears_the_alerts(tmp_path):
    for name, options in (
        ("told", ["--alert-email", "ml@acme.example", "--alert-email", "ops@acme.example"]),
        ("not", []),
    ):
        done = CliRunner().invoke(app, ["init", str(tmp_path / name), "--client", "acme", *options])
        assert done.exit_code == 0, done.output
        config = yaml.safe_load((tmp_path / name / "Pulumi.dev.yaml").read_text())["config"]
        assert config.get("trainyard:alertEmails", []) == options[1::2]
        assert ("set trainyard:alertEmails" in done.output) == (not options)
    refused = CliRunner().invoke(app, ["init", str(tmp_path / "new"), "--client", "acme", "--alert-email", "nobody"])
    assert refused.exit_code == 2
    assert "--alert-email" in refused.output
    assert not (tmp_path / "new").exists()
