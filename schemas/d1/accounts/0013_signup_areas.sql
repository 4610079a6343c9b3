-- Who asked for a link, coarser than by network: HMACs of the /24 or /48 of the address, and of the domain of the mailbox.
ALTER TABLE signup_links ADD COLUMN area TEXT;
ALTER TABLE signup_links ADD COLUMN domain TEXT;
