"""The rules of an archive's system tree, for check_archive.py: a machine contains nodes, these contain
sockets, these contain cores. Ranks are placed on nodes, sockets and cores; nothing exists without a rank.
"""
ABOVE = {"machine": None, "node": "machine", "socket": "node", "core": "socket"}
DOMAINS = {"machine": "MACHINE", "node": "SHARED_MEMORY", "socket": "SOCKET", "core": "CORE"}


def enum_name(value):
    return str(value).rpartition(".")[2]


def path_of(node):
    """Names from the node down, without the machine's."""
    path = []
    while node.parent is not None:
        path.insert(0, node.name)
        node = node.parent
    return path


def check_tree(check, definitions):
    nodes = list(definitions.system_tree_nodes)
    used = set()
    for group in definitions.location_groups:
        node = group.system_tree_parent
        check.expect("a rank is on a node, a socket or a core",
                     node.class_name in ("node", "socket", "core"), node.class_name)
        while node is not None:
            used.add(node._ref)
            node = node.parent
    check.expect("a system tree has one machine",
                 sum(node.class_name == "machine" for node in nodes) == 1)
    for node in nodes:
        above = node.parent.class_name if node.parent is not None else None
        check.expect("machine, node, socket and core are below each other in the system tree",
                     node.class_name in ABOVE and ABOVE[node.class_name] == above,
                     f"{node.class_name} {node.name} below {above}")
        check.expect("a part of the system tree has ranks", node._ref in used, node.name)
    parts = [(node.parent._ref, node.name) for node in nodes
             if node.class_name in ("socket", "core") and node.parent is not None]
    check.expect("each socket and core occurs once", len(set(parts)) == len(parts), parts)
    for domain in definitions.system_tree_node_domains:
        node = domain.system_tree_node
        check.expect("parts of the system tree have the domain of their class",
                     DOMAINS.get(node.class_name) == enum_name(domain.system_tree_node_domain), node.name)
