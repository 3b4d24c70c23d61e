"""The task graph as text that other programs draw: Mermaid and Graphviz. The critical path is thicker."""

from interlock.plan import Analysis, Graph


def mermaid(graph: Graph, analysis: Analysis) -> str:
    """For Markdown pages."""
    numbers = {task.id: f"t{number}" for number, task in enumerate(graph.tasks)}
    lines = ["flowchart LR"]
    lines += [f'    {numbers[task.id]}["{task.id}"]' for task in graph.tasks]
    lines += [f"    {numbers[need]} --> {numbers[task.id]}" for task in graph.tasks for need in task.needs]
    if analysis.critical_path:
        lines.append("    classDef critical stroke-width:4px")
        lines.append(f"    class {','.join(numbers[name] for name in analysis.critical_path)} critical")
    return "\n".join(lines)


def dot(graph: Graph, analysis: Analysis) -> str:
    """For Graphviz. Ids hold no quotes, so they need no escaping."""
    critical = set(analysis.critical_path)
    lines = ["digraph tasks {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f'  "{task.id}"{" [penwidth=3]" if task.id in critical else ""};' for task in graph.tasks]
    lines += [f'  "{need}" -> "{task.id}";' for task in graph.tasks for need in task.needs]
    return "\n".join([*lines, "}"])
