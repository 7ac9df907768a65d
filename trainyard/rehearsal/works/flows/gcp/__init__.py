"""What of Google Cloud stands between places: networks of GKE, its firewall, ways to Google's services and out."""
