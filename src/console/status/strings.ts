// Text of the status page, and of the parts that the operator pages share with it.

/** Names of components. */
export const COMPONENT_NAMES = {
  api: 'API',
  streams: 'Streams',
  archive: 'Archive',
  pipelines: 'Pipelines',
  json_rpc: 'JSON-RPC',
} as const

export const INCIDENT_KIND_NAMES = { incident: 'Incident', maintenance: 'Planned maintenance' } as const

export const STATUS = {
  title: 'Status',
  feed: (chain: string) => `The feed of ${chain} is `,
  delay: 'Data delay',
  delayNote: 'behind real time',
  books: 'Order books',
  booksKnown: 'Available',
  booksUnknown: 'Not available yet',
  epoch: (epoch: string) => `epoch ${epoch}`,
  ms: (value: number) => `${value.toLocaleString('en')} ms`,
  sources: 'Upstream sources',
  noSources: 'No upstream sources are configured.',
  columns: { source: 'Source', state: 'State', lastSuccess: 'Last success (UTC)' },
  never: 'Not yet',
  late: ', late',
  refresh: 'This page updates every five seconds. For more detail as JSON, run ',
  reference: 'API reference',
} as const

export const FEED = {
  height: 'Block height',
  stored: (height: string) => `stored up to ${height}`,
  archived: 'Archived up to',
  noArchive: 'No archive is configured',
  notArchived: 'Not yet',
  behind: (blocks: string) => `${blocks} blocks behind`,
  ages: 'Block age on delivery by region (last minute)',
  agesTable: 'Block age by region',
  agesEmpty: 'No relay is sending blocks. Relays start with the first subscription.',
  regionColumns: {
    region: 'Region',
    relays: 'Relays',
    sockets: 'Connections',
    p50: 'Age p50 (ms)',
    p99: 'Age p99 (ms)',
  },
  gaps: 'Missing blocks (last 20 gaps)',
  gapsTable: 'Missing blocks',
  gapsEmpty: 'No missing blocks.',
  gapColumns: {
    from: 'From',
    to: 'To',
    blocks: 'Blocks',
    reason: 'Reason',
    recorded: 'Recorded (UTC)',
    archive: 'Archive',
  },
  repair: (state: string, from: readonly string[]) => (from.length === 0 ? state : `${state} from ${from.join(', ')}`),
} as const
