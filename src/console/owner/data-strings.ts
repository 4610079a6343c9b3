// Text of the archive section.

export const dataExport = 'Export files'
export const dataExportText =
  'Choose UTC days, here or in the calendar, to see what their files cost. The price is free to look up. You pay when you create download links.'
export const dataFrom = 'From'
export const dataTo = 'To'
export const dataPrice = 'Price by product'
export const dataColumnsProduct = 'Product'
export const dataProducts: Readonly<Record<string, string>> = {
  events: 'Fills, ledger updates, funding, TWAPs and more',
  books: 'Changes of all order books',
  checkpoints: 'All order books, four times an hour',
  fills_by_time: 'Parquet, for volumes and markets',
  fills_by_user: 'Parquet, for the fills of a wallet',
  ledger_by_user: 'Parquet, deposits and transfers of a wallet',
  funding_by_user: 'Parquet, funding payments of a wallet',
  candles_by_coin: 'Parquet, candles of a market',
  positions_by_coin: 'Parquet, positions of a market',
  oracle_updates_by_time: 'Parquet, oracle prices',
  writer_actions_by_time: 'Parquet, actions of HyperEVM transactions',
}
export const dataColumnsFiles = 'Files'
export const dataColumnsSize = 'Size'
export const dataColumnsPrice = 'Price (credits)'
export const dataLeastPrice = '< 0.001'
export const dataColumnsLinks = 'Links'
export const dataGetLinks = 'Get'
export const dataTotal = (files: string, size: string, credits: string) =>
  `All products: ${files} files, ${size}, ${credits} credits.`
export const dataOrder = (product: string) => `Get links: ${product}`
export const dataOrderSubmit = (credits: string) => `Create links for ${credits} credits`
export const dataOrderText = (files: string, size: string) =>
  `${files} files, ${size}. Links work for an hour; downloads are free. Of more than 1,000 files, the first 1,000 are charged now and the others when you load them.`
export const dataFiles = (product: string, until: string) => `${product}: links work until ${until} UTC`
export const dataFilesTable = 'Files with download links'
export const dataNoFiles = 'No files in this range.'
export const dataColumnsFile = 'File'
export const dataColumnsFirst = 'First block (UTC)'
export const dataColumnsLast = 'Last block (UTC)'
export const dataColumnsChecksum = 'SHA-256'
export const dataCoverage = 'Coverage'
export const dataCoverageText =
  'A calendar of the archived days of the last year, with missing blocks and repairs. This tab then loads it each time you open the page, at the same price.'
export const dataCoverageShow = 'Show coverage (2 to 5 credits)'
export const dataCoverageHint =
  'Use the arrow keys to move between days, and Enter to open one. Opening a day costs 1 credit.'
export const dataGapsCut = 'Only the first 1,000 gaps of the year are shown.'
export const coverageStates = {
  complete: 'Complete',
  repaired: 'Complete after a repair',
  partial: 'Partly archived',
  gap: 'Missing',
  none: 'Not archived',
} as const
export const coverageText = {
  none: 'not archived.',
  gap: 'no block is archived.',
  blocks: (count: string) => `${count} blocks`,
  archived: 'archived',
  begins: (time: string) => ` from ${time}`,
  ends: (time: string) => ` until ${time}`,
  complete: 'complete',
  butFor: (missing: string) => ` but for ${missing}`,
  missing: (count: string, time: string, state: 'open' | 'beyond_repair') =>
    `${blockCount(count)} after ${time}${state === 'open' ? '' : ' that no source has'}`,
  repaired: (count: string, time: string | null, source: string) =>
    `${blockCount(count)}${time === null ? '' : ` at ${time}`} repaired from ${source}`,
  fillsOnly: (count: string) => `Only the fills of ${blockCount(count)} are known`,
  more: (count: number) => `and ${count} more`,
} as const
const blockCount = (count: string) => `${count} ${count === '1' ? 'block' : 'blocks'}`
export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
export const calendarLabel = 'Archived days of the last year'
export const hoursLabel = (day: string) => `Hours of ${day}, UTC`
export const hoursHint = 'Choose an hour to export or replay only that hour.'
export const dayClose = 'Close'
export const dayReplay = 'Replay in /live'
export const dayReplayMarket = 'Market'
export const dayReplayAny = 'Most traded'
export const dayCommands = 'Download and query in a terminal'
export const dayCommandsText =
  'These commands download the fills of this range at the price below, check them, and sum the volume with DuckDB.'
export const dataTables = 'Days, missing blocks and repairs as tables'
export const dataWholeDay = 'Export the whole day'
export const dataRangeHour = (day: string, from: string, to: string) => `${day}, ${from} to ${to} UTC`
export const dataColumnsDay = 'Day (UTC)'
export const dataColumnsBlocks = 'Blocks'
export const dataColumnsFirstBlock = 'First block'
export const dataColumnsLastBlock = 'Last block'
export const dataColumnsEvents = 'Events'
export const dataColumnsBooks = 'Order books'
export const dataNoDays = 'Nothing is archived in this range yet.'
export const dataSince = 'Archived since (UTC)'
export const dataUntil = 'Archived until (UTC)'
export const dataLastYear = 'last 52 weeks'
export const dataGaps = 'Missing blocks'
export const dataNoGaps = 'No missing blocks.'
export const dataColumnsAfter = 'After (UTC)'
export const dataColumnsBefore = 'Before (UTC)'
export const dataColumnsState = 'State'
export const dataGapStates = { open: 'May still be repaired', beyond_repair: 'No source has them' } as const
export const dataRepairs = 'Repairs'
export const dataNoRepairs = 'No repairs.'
export const dataColumnsSource = 'Source'
export const dataColumnsRepaired = 'Repaired (UTC)'
