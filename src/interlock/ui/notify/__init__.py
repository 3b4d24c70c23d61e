"""Messages to a person who is away: a webhook, mail, chat. A run sends them; nothing waits for them."""
