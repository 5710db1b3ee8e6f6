"""The test classes, and what was left out.

A class belongs here if its tests set up a CapacityScheduler and place containers or applications.
Left out of the package scheduler.capacity:
- classes that mock the scheduler or set up none, so nothing of ours would run
  (TestCSMaxRunningAppsEnforcer, TestParentQueue, TestChildQueueOrder, TestQueueManagement*,
  TestUsersManager, TestQueueCapacities, TestCSQueueStore, TestUtils, ...);
- classes that only parse or check configuration (TestQueueParsing, TestQueueMappings,
  TestCapacitySchedulerConfigValidator, TestCapacitySchedulerQueueMappingFactory,
  TestQueueConfigurationAutoRefreshPolicy, Test*QueueResourceCalculation, conf.*, ...);
- TestCapacitySchedulerPerf, whose tests are switched off.
Outside of that package, only what restarts, reserves, preempts or restarts ApplicationMasters is
here. The preemption policies' own tests (TestProportionalCapacityPreemptionPolicy*) mock the
scheduler; the web services' tests place nothing.
"""

from __future__ import annotations

PACKAGE = "org.apache.hadoop.yarn.server.resourcemanager"

# The longest first, so that the last to run are short.
CLASSES = (
    "TestRMRestart",
    "scheduler.capacity.TestNodeLabelContainerAllocation",
    "TestWorkPreservingRMRestart",
    "applicationsmanager.TestAMRestart",
    "scheduler.capacity.TestCapacityScheduler",
    "scheduler.capacity.TestContainerResizing",
    "scheduler.capacity.TestCapacitySchedulerOvercommit",
    "scheduler.capacity.TestCapacitySchedulerSurgicalPreemption",
    "scheduler.capacity.TestCapacitySchedulerAsyncScheduling",
    "scheduler.capacity.TestContainerAllocation",
    "scheduler.capacity.TestApplicationPriority",
    "scheduler.capacity.TestCapacitySchedulerNodeLabelUpdate",
    "scheduler.capacity.TestSchedulingRequestContainerAllocation",
    "scheduler.capacity.TestSchedulingRequestContainerAllocationAsync",
    "scheduler.capacity.TestCapacitySchedulerLazyPreemption",
    "scheduler.capacity.TestCapacitySchedulerAutoCreatedQueuePreemption",
    "scheduler.capacity.TestCapacitySchedulerMultiNodes",
    "scheduler.capacity.TestCapacitySchedulerMultiNodesWithPreemption",
    "scheduler.capacity.TestCapacitySchedulerApps",
    "scheduler.capacity.TestCapacitySchedulerNodes",
    "scheduler.capacity.TestCapacitySchedulerQueues",
    "scheduler.capacity.TestCapacitySchedulerAutoQueueCreation",
    "scheduler.capacity.TestCapacitySchedulerNewQueueAutoCreation",
    "scheduler.capacity.TestCapacitySchedulerNewQueueAutoCreationWithCapacityVectors",
    "scheduler.capacity.TestCapacitySchedulerWeightMode",
    "scheduler.capacity.TestCapacitySchedulerWithMultiResourceTypes",
    "scheduler.capacity.TestCapacitySchedulerWorkflowPriorityMapping",
    "scheduler.capacity.TestCapacitySchedulerDynamicBehavior",
    "scheduler.capacity.TestCapacitySchedulerMaxParallelApps",
    "scheduler.capacity.TestCapacitySchedulerSchedulingRequestUpdate",
    "scheduler.capacity.TestCapacitySchedulerAmbiguousLeafs",
    "scheduler.capacity.TestAMAllocatedToNonExclusivePartition",
    "scheduler.capacity.TestAbsoluteResourceConfiguration",
    "scheduler.capacity.TestAbsoluteResourceWithAutoQueue",
    "scheduler.capacity.TestApplicationLimits",
    "scheduler.capacity.TestApplicationLimitsByPartition",
    "scheduler.capacity.TestApplicationPriorityACLs",
    "scheduler.capacity.TestCSAllocateCustomResource",
    "scheduler.capacity.TestIncreaseAllocationExpirer",
    "scheduler.capacity.TestLeafQueue",
    "scheduler.capacity.TestQueueState",
    "scheduler.capacity.TestReservations",
    "scheduler.capacity.TestWorkPreservingRMRestartForNodeLabel",
    "TestRMHAForAsyncScheduler",
    "TestReservationSystemWithRMHA",
    "TestNodeBlacklistingOnAMFailures",
    "monitor.TestSchedulingMonitor",
    "reservation.TestCapacitySchedulerPlanFollower",
    "reservation.TestReservationSystem",
)

# Their applications are mocks without ids, so the core goes out of service when one is added.
MOCKED_APPLICATIONS = frozenset(
    {
        "reservation.TestCapacitySchedulerPlanFollower",
        "scheduler.capacity.TestLeafQueue",
    }
)


class UnknownClass(Exception):
    """A name that is not one of CLASSES."""


def short(name: str) -> str:
    """The name without its package."""
    return name.rpartition(".")[2]


def full(name: str) -> str:
    """The name with Hadoop's package."""
    return f"{PACKAGE}.{name}"


def chosen(names: str) -> list[str]:
    """The classes that a list with commas names, without their packages; all for an empty list."""
    if not names:
        return list(CLASSES)
    known = {short(name): name for name in CLASSES}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UnknownClass(f"not in tests/hadoop_suite/classes.py: {', '.join(unknown)}")
    return [known[name] for name in dict.fromkeys(wanted)]
