"""Submits an application over YARN's own REST, with the users who may view it."""

from __future__ import annotations

import json
import urllib.request

from cluster.resource_manager import ResourceManager
from cluster.rest import post_json

MEMORY_MB = 256
TIMEOUT_SECONDS = 10.0
JSON = {"Content-Type": "application/json", "Accept": "application/json"}

# Bypasses a configured proxy.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def submit_viewable(
    manager: ResourceManager, owner: str, viewer: str, name: str, command: str
) -> str:
    """Submits one container that runs `command`, and returns YARN's application id.

    YARN takes the container for an ApplicationMaster that has not registered yet, so the command
    must end within 10 minutes. The access control list VIEW_APP names the viewer.
    """
    applications = f"{manager.url}/ws/v1/cluster/apps"
    caller = f"user.name={owner}"
    made = post_json(f"{applications}/new-application?{caller}", {})
    application = made["application-id"]
    wanted = {
        "application-id": application,
        "application-name": name,
        "application-type": "YARN",
        "queue": "default",
        "max-app-attempts": 1,
        "resource": {"memory": MEMORY_MB, "vCores": 1},
        "am-container-spec": {
            "commands": {"command": command},
            "application-acls": {"entry": [{"key": "VIEW_APP", "value": viewer}]},
        },
    }
    body = json.dumps(wanted).encode()
    request = urllib.request.Request(f"{applications}?{caller}", data=body, headers=JSON)
    # The answer is empty, which post_json does not take. An error raises HTTPError.
    _opener.open(request, timeout=TIMEOUT_SECONDS).close()
    return application
