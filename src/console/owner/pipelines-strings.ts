// Text of the pipelines.

export const pipelinesNeedService = 'Pipelines are managed with a service key. Sign in with one to see them.'
export const pipelinesGuide = 'How pipelines work'
export const pipelinesNew = 'New pipeline'
export const pipelinesFirst = 'Create a pipeline'
export const pipelinesEdit = 'Edit'
export const pipelinesEmpty =
  'No pipelines yet. A pipeline sends rows to your webhook, bucket, database or Kafka topic.'
export const pipelinesLoading = 'Loading…'
export const pipelinesLag = (lag: string) => `, ${lag} behind`
export const pipelinesColumnsName = 'Name'
export const pipelinesColumnsState = 'State'
export const pipelinesColumnsTopic = 'Topic'
export const pipelinesColumnsDestination = 'Destination'
export const pipelinesColumnsCreated = 'Created'
export const pipelinesSyncing = 'applying the latest change'
export const pipelinesLagTitle = 'Lag'
export const pipelinesHeight = (height: string) => `block ${height}`
export const pipelinesRowsTotal = 'Rows delivered'
export const pipelinesDead = 'Dead letters'
export const pipelinesFailing = (message: string, time: string) => `${message.replace(/\.?$/, '.')} Since ${time} UTC.`
export const pipelinesNextTry = (time: string) => ` Next attempt at ${time} UTC.`
export const pipelinesRecovered = (time: string, message: string) => `Recovered at ${time} UTC from: ${message}`
export const pipelinesRows = 'Rows per minute, last hour (UTC)'
export const pipelinesNoRows = 'No rows in the last hour.'
export const pipelinesRefresh = 'Refresh'
export const pipelinesMinute = (time: string) => `${time} UTC`
export const pipelinesFailures = 'Failed attempts'
export const pipelinesDefinition = 'Definition'
export const pipelinesFilter = 'Filter'
export const pipelinesNoFilter = 'None: all rows'
export const pipelinesTransforms = 'SQL'
export const pipelinesPayer = 'Charged to'
export const pipelinesLog = 'Log'
export const pipelinesNoLog = 'No log lines yet.'
export const pipelinesLogTime = 'Time'
export const pipelinesLogLevel = 'Level'
export const pipelinesLogMessage = 'Message'
export const pipelinesLogBatch = 'Batch'
export const pipelinesPause = 'Pause'
export const pipelinesPauseText = 'Delivery stops after the current batch and continues from there later.'
export const pipelinesResume = 'Resume'
export const pipelinesResumeText = 'Delivery continues where it stopped. Rows and running minutes are charged.'
export const pipelinesDelete = 'Delete pipeline'
export const pipelinesDeleteText =
  'Its settings, log and dead letters are deleted. Delivered rows stay at the destination. This can’t be undone.'
export const pipelinesRedeliver = 'Redeliver dead letters'
export const pipelinesRedeliverText = (count: number) =>
  `${count === 1 ? '1 batch is' : `${count} batches are`} sent to the destination again.`

export const backfillTitle = 'Backfill'
export const backfillText =
  'Delivers rows of past blocks with the current settings. The pipeline itself goes on where it is.'
export const backfillFrom = 'First block or time'
export const backfillFromHint = 'Empty: the first available block'
export const backfillTo = 'Last block or time'
export const backfillToHint = 'Empty: up to the first block of the pipeline'
export const backfillPlaceholder = '2026-11-24T00:00:00Z'
export const backfillAgain = 'Also deliver, and charge again, blocks that were delivered before'
/** The gateway names the field that the box stands for. */
export const backfillError = (message: string) =>
  message.replace('unless "redeliver" is true', `unless “${backfillAgain}” is checked`)
export const backfillEstimate = 'Estimate rows and price (1 credit)'
export const backfillEstimating = 'Reading samples of the range…'
export const backfillBlocks = 'Blocks'
export const backfillRange = (from: string, to: string) => `${from} to ${to}`
export const backfillRows = 'Rows'
export const backfillPrice = 'Price'
export const backfillCredits = (credits: string) => `${credits} credits`
export const backfillMost = (most: string) => `at most about ${most}`
export const backfillExact = 'exact: all blocks were read'
export const backfillDuration = 'Duration'
export const backfillAbout = (text: string) => `about ${text}`
export const backfillStart = (credits: string) => `Start for ${credits} credits`
export const backfillStartAbout = (credits: string) => `Start for about ${credits} credits`
export const backfillStale = 'The range has changed since this estimate.'
export const backfillProgress = (percent: string) => `${percent} delivered`
export const backfillMeter = 'Delivered part of the backfill'
export const backfillCancel = 'Cancel backfill'
export const backfillCancelText =
  'It stops after its current batch. Delivered rows stay and stay charged, and the rest can be ordered again.'
export const backfillResume = 'Resume backfill'
export const backfillDelivered = (ranges: string) => `Backfilled before: blocks ${ranges}`
