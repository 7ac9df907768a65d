"""What the cloud itself has to be told before Pulumi can delete: protection off, files written back, apps stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from trainyard.account.aws import Account, RefusedError
from trainyard.recorded.types import DATA_REPOSITORY_ASSOCIATION, DATABASE, EKS_CLUSTER, LUSTRE, SAGEMAKER_DOMAIN
from trainyard.teardown.cloud import LiftError, Say
from trainyard.teardown.state import State

LOOK_AGAIN_SECONDS: Final = 10.0
MOST_LOOKS: Final = 90


def stop_apps(
    state: State,
    account: Account,
    say: Say,
    *,
    keep_homes: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Ends the apps of every SageMaker domain, people's notebooks, and their spaces where homes are given up.

    Apps are paid for as machines; a domain with a space is not deleted.

    Raises:
        LiftError: homes are to stay and there are some: they are on disks of SageMaker's, which go with their domain.
    """
    domains = [str(each["id"]) for each in state.of(SAGEMAKER_DOMAIN)]
    spaces = {domain: [each["SpaceName"] for each in _spaces(account, domain)] for domain in domains}
    named = ", ".join(name for names in spaces.values() for name in names)
    if keep_homes and named:
        raise LiftError(
            f"the spaces {named} hold their owners' files, which go with their domain: copy to a bucket what is worth"
            " it, then give them up by --keep without homes"
        )
    for domain in domains:
        for app in _apps(account, domain):
            if app.get("Status") == "Deleting":
                continue
            say(f"stopping {app['AppType']} {app['AppName']}")
            owner = {key: app[key] for key in ("UserProfileName", "SpaceName") if app.get(key)}
            account.call(
                "sagemaker", "delete_app", DomainId=domain, AppType=app["AppType"], AppName=app["AppName"], **owner
            )
        _until_gone(partial(_apps, account, domain), f"apps of {domain}", sleep)
        for name in spaces[domain]:
            say(f"deleting space {name}")
            account.call("sagemaker", "delete_space", DomainId=domain, SpaceName=name)
        _until_gone(partial(_spaces, account, domain), f"spaces of {domain}", sleep)


def _apps(account: Account, domain: str) -> list[dict[str, Any]]:
    """The apps that are there; those that are gone stay listed for a day."""
    found = account.each("sagemaker", "list_apps", "Apps", DomainIdEquals=domain)
    return [each for each in found if each.get("Status") not in ("Deleted", "Failed")]


def _spaces(account: Account, domain: str) -> list[dict[str, Any]]:
    return list(account.each("sagemaker", "list_spaces", "Spaces", DomainIdEquals=domain))


def _until_gone(listed: Callable[[], list[dict[str, Any]]], what: str, sleep: Callable[[float], None]) -> None:
    for _ in range(MOST_LOOKS):
        if not listed():
            return
        sleep(LOOK_AGAIN_SECONDS)
    raise LiftError(f"the {what} are still there after {MOST_LOOKS * LOOK_AGAIN_SECONDS / 60:g} minutes")


def write_back(state: State, account: Account, say: Say, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Has every linked file system write to its bucket what is not there yet, and waits until it has."""
    for each in state.of(LUSTRE):
        links = [
            link
            for link in state.of(DATA_REPOSITORY_ASSOCIATION)
            if (link.get("inputs") or {}).get("fileSystemId") == each["id"]
        ]
        if not links or not _is_there(account, each["id"]):
            continue
        say(f"writing {each['id']} back to its bucket")
        task = account.call(
            "fsx",
            "create_data_repository_task",
            Type="EXPORT_TO_REPOSITORY",
            FileSystemId=each["id"],
            Report={"Enabled": False},
        )["DataRepositoryTask"]
        while task["Lifecycle"] in ("PENDING", "EXECUTING"):
            sleep(LOOK_AGAIN_SECONDS)
            (task,) = account.call("fsx", "describe_data_repository_tasks", TaskIds=[task["TaskId"]])[
                "DataRepositoryTasks"
            ]
        if task["Lifecycle"] != "SUCCEEDED":
            why = (task.get("FailureDetails") or {}).get("Message", "")
            raise LiftError(
                f"{each['id']} was not written back whole: task {task['TaskId']} is {task['Lifecycle']}; {why}"
            )


def _is_there(account: Account, file_system: str) -> bool:
    try:
        return bool(account.call("fsx", "describe_file_systems", FileSystemIds=[file_system])["FileSystems"])
    except RefusedError as error:
        if error.is_absence:
            return False
        raise


def unprotect(state: State, account: Account, say: Say, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Takes the cloud's own protection off databases and clusters, which the state cannot."""
    for each in state.of(DATABASE):
        name = str((each.get("outputs") or {}).get("identifier") or each["id"])
        _unprotect_database(name, account, say)
    for each in state.of(EKS_CLUSTER):
        _unprotect_cluster(str(each["id"]), account, say, sleep)


def _unprotect_database(name: str, account: Account, say: Say) -> None:
    try:
        (found,) = account.call("rds", "describe_db_instances", DBInstanceIdentifier=name)["DBInstances"]
    except RefusedError as error:
        if error.is_absence:
            return
        raise
    if found.get("DeletionProtection"):
        say(f"lifting the protection of database {name}")
        account.call(
            "rds", "modify_db_instance", DBInstanceIdentifier=name, DeletionProtection=False, ApplyImmediately=True
        )


def _unprotect_cluster(name: str, account: Account, say: Say, sleep: Callable[[float], None]) -> None:
    try:
        found: dict[str, Any] = account.call("eks", "describe_cluster", name=name)["cluster"]
    except RefusedError as error:
        if error.is_absence:
            return
        raise
    if not found.get("deletionProtection"):
        return
    say(f"lifting the protection of cluster {name}")
    update = account.call("eks", "update_cluster_config", name=name, deletionProtection=False)["update"]
    while update.get("status") == "InProgress":
        sleep(LOOK_AGAIN_SECONDS)
        update = account.call("eks", "describe_update", name=name, updateId=update["id"])["update"]
    if update.get("status") in ("Failed", "Cancelled"):
        raise LiftError(f"EKS does not lift the protection of cluster {name}: update {update['id']} {update['status']}")
