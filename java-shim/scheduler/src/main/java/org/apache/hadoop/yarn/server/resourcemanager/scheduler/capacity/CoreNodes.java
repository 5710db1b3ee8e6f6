package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;

/** The nodes that the core knows. */
final class CoreNodes {
  private final CoreHandle core;
  private final ConcurrentMap<NodeId, NodeRecord> byId = new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, NodeRecord> byNumber = new ConcurrentHashMap<>();

  CoreNodes(CoreHandle core) {
    this.core = core;
  }

  /** The record of a node; null if the core does not know the node. */
  NodeRecord find(NodeId node) {
    return byId.get(node);
  }

  NodeRecord find(int number) {
    return byNumber.get(number);
  }

  Collection<NodeRecord> all() {
    return byId.values();
  }

  /**
   * @param label empty for none
   */
  NodeRecord added(RMNode node, String label) {
    NodeRecord former = byId.get(node.getNodeID());
    removed(node.getNodeID());
    Resource registered = node.getTotalCapability();
    NodeRecord record =
        new NodeRecord(node, core.nodeAdded(node.getNodeID().toString(), registered), registered);
    if (former != null) {
      record.keepLowering(former);
    }
    byNumber.put(record.number, record);
    byId.put(node.getNodeID(), record);
    labelled(record, label);
    return record;
  }

  /**
   * @param label empty for none
   */
  void labelled(NodeRecord record, String label) {
    core.nodeLabelled(record.number, label);
  }

  void resized(NodeRecord record) {
    core.nodeResized(record.number, record.registered());
  }

  /** A new core knows no node yet; {@link #added} replaces each record. */
  void coreIsNew() {
    byNumber.clear();
  }

  /** Removes the records that no new core was told of. */
  void forgetOutdated() {
    byId.values().removeIf(record -> byNumber.get(record.number) != record);
  }

  void removed(NodeId node) {
    NodeRecord record = byId.remove(node);
    // A record of a former core has a number that the core does not know, or of another node.
    if (record != null && byNumber.remove(record.number, record)) {
      core.nodeRemoved(record.number);
    }
  }
}
