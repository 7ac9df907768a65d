"""The services of a project that an environment uses, and the agents that act for them."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_gcp.logging as logging
import pulumi_gcp.projects as projects

from trainyard.components.outputs import register

DOMAIN = "googleapis.com"


class ProjectServicesArgs(TypedDict):
    """What `ProjectServices` needs."""

    services: Sequence[str]
    """Names of the services without their domain, such as `container` and `compute`."""
    agents: Sequence[str]
    """Services whose agent is made now and not at their first use, so that a key can admit it: `storage` needs none."""


class ProjectServices(pulumi.ComponentResource):
    """Switches services of the project on. They stay on when the environment goes: others in the project use them.

    `ready` lists what waits for them: whatever is made through a service has to come after it.
    """

    agent_emails: dict[str, pulumi.Output[str]]
    """Service to the e-mail address of its agent."""

    def __init__(self, name: str, args: ProjectServicesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for an agent of a service that is not switched on, and for a name with its domain."""
        super().__init__("trainyard:index:ProjectServices", name, None, opts)
        names = list(dict.fromkeys(args["services"]))
        for service in names:
            if "." in service:
                raise ValueError(f"services: got {service!r}; the name alone, such as {service.partition('.')[0]!r}")
        unknown = [service for service in args["agents"] if service not in names]
        if unknown:
            raise ValueError(f"agents: {', '.join(unknown)}; an agent's service must be among the services")
        child = pulumi.ResourceOptions(parent=self)
        made = {
            service: projects.Service(
                f"{name}-{service}",
                service=f"{service}.{DOMAIN}",
                disable_on_destroy=False,
                disable_dependent_services=False,
                opts=child,
            )
            for service in names
        }
        self.ready: list[pulumi.Resource] = list(made.values())
        self.agent_emails = {}
        for service in args["agents"]:
            if service == "logging":
                # Its account is no agent of the project's: Cloud Logging makes it for who asks after its key.
                asked = logging.get_project_cmek_settings_output(
                    project=made[service].project,
                    opts=pulumi.InvokeOutputOptions(parent=self, depends_on=[made[service]]),
                )
                self.agent_emails[service] = asked.service_account_id
                continue
            agent = projects.ServiceIdentity(
                f"{name}-{service}-agent",
                service=f"{service}.{DOMAIN}",
                opts=pulumi.ResourceOptions(parent=self, depends_on=[made[service]]),
            )
            self.agent_emails[service] = agent.email
            self.ready.append(agent)
        register(self)
