"""Speed and memory of Sloyd, beside pi where there is one and beside the raw tool."""
