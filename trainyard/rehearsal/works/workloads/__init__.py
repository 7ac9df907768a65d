"""What runs pods in a recorded stack: objects, charts and add-ons that it installs, jobs of its runtimes."""
