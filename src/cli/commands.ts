// The commands of `weir`: their names and what they do, in the order of the help.

/** Runs a command line in its own words: `npx weir <name> …`. */
export const COMMAND_PREFIX = 'npx weir'

/** Descriptions of all commands. */
export const COMMANDS = {
  demo: 'run all of Weir on a simulated exchange',
  serve: 'run a gateway in production on this machine',
  backup: 'back up the state folder of "serve", also while it runs',
  restore: 'restore a backup into an empty state folder',
  export: 'export plans, accounts, pipelines and the archive of a gateway',
  import: 'import an export into another gateway',
  deploy: 'create a gateway on Cloudflare, or update it',
  feed: 'read the files that a node writes, and send its blocks to a gateway',
  doctor: "check a running gateway, or the parts of a node's host that the options name",
  keys: 'manage API keys of a gateway',
  admin: 'manage a gateway as its operator',
  backfill: 'import blocks that the archive of a gateway lacks',
  repair: 'fill the gaps of a gateway’s archive',
  books: 'write archived order books as files for backtests',
  watch: 'show live order books in the terminal, compared with the server every 5 s',
  pay: 'pay with a wallet by x402, without an account',
  replay: 'replay recorded node data through the order-book core',
  devnet: 'run only the simulated exchange',
  completion: 'print the completion script of a shell',
} as const

export type CommandName = keyof typeof COMMANDS
