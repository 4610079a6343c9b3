// The backfill of a pipeline: its price before it is ordered, its progress, and its end. Invariant: nothing is ordered before
// the owner has seen the price.

import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Query } from '../queries.dom.ts'
import { type RequestError, request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Dialog } from '../ui/dialog.tsx'
import { durationText, groupedText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, Figures, QueryView, Reserved } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { heartbeat, refreshAll, useAccountQuery } from './account-data.dom.ts'
import { errorAt, fieldErrors } from './pipeline-draft.ts'
import { isUnderWay, partDone, phaseTone } from './pipeline-state.ts'
import { TextInput } from './pipeline-step-parts.tsx'
import * as strings from './pipelines-strings.ts'

type State = Responses['pipelineBackfill']
type Backfill = NonNullable<State['backfill']>
type Plan = Responses['backfillPipeline']

interface BackfillProps {
  /** Of the pipeline. */
  readonly path: string
}

export function BackfillSection({ path }: BackfillProps) {
  const isActive = useSignal(false)
  const query = useAccountQuery<State>(() => {
    if (isActive.value) void heartbeat.value
    return `${path}backfill/`
  })
  const backfill = query.value.value?.backfill ?? null
  const isBusy = backfill !== null && isUnderWay(backfill.phase)
  useEffect(() => {
    isActive.value = isBusy
  }, [isBusy])
  if (query.value.value?.available === false) return null
  return (
    <section class="card">
      <h2>{strings.backfillTitle}</h2>
      <QueryView query={query} height={260}>
        {({ backfill: current, delivered }) => (
          <>
            {current && <Progress backfill={current} path={path} query={query} />}
            {!isBusy && <Order path={path} onOrdered={query.reload} />}
            {delivered.length > 0 && <p class="soft">{strings.backfillDelivered(rangesText(delivered))}</p>}
          </>
        )}
      </QueryView>
    </section>
  )
}

const numberText = (value: number) => groupedText(String(value))
const rangeText = ({ from, to }: { readonly from: number; readonly to: number }) =>
  strings.backfillRange(numberText(from), numberText(to))
const rangesText = (ranges: State['delivered']) => ranges.map(rangeText).join(', ')

interface ProgressProps extends BackfillProps {
  readonly backfill: Backfill
  readonly query: Query<State>
}

function Progress({ backfill, path, query }: ProgressProps) {
  const isCanceling = useSignal(false)
  const error = useSignal<RequestError | null>(null)
  const { phase, rows, message } = backfill
  const done = partDone(backfill)
  const close = () => {
    isCanceling.value = false
  }
  const cancel = () =>
    requestChange('DELETE', `${path}backfill/`, undefined, () => {
      close()
      query.reload()
    })
  const resume = async () => {
    const change = { status: 'running' }
    error.value = await requestChange('PUT', `/platform/pipeline-api/${backfill.id}/`, change, query.reload)
  }
  return (
    <>
      <Figures
        figures={[
          {
            name: strings.pipelinesColumnsState,
            value: (
              <>
                <span class={`dot ${phaseTone(phase)}`} aria-hidden="true" />
                {labelOf(phase)}
              </>
            ),
            note: strings.backfillProgress(`${Math.floor(done * 100)}%`),
          },
          { name: strings.backfillBlocks, value: <small>{rangeText(backfill)}</small> },
          { name: strings.pipelinesRowsTotal, value: rows === null ? '–' : numberText(rows) },
        ]}
      />
      <progress value={done} max={1} aria-label={strings.backfillMeter} />
      {message && <p class="note trouble">{message}</p>}
      <ErrorNote error={error.value} />
      {isUnderWay(phase) && (
        <p class="beside">
          <Button text={strings.backfillCancel} class="danger" onClick={() => (isCanceling.value = true)} />
          {(phase === 'failed' || phase === 'paused' || phase === 'unpaid') && (
            <Button text={strings.backfillResume} onClick={resume} />
          )}
        </p>
      )}
      {isCanceling.value && (
        <Dialog
          title={strings.backfillCancel}
          submitLabel={strings.backfillCancel}
          submitClass="danger"
          onSend={cancel}
          onClose={close}
        >
          <p>{strings.backfillCancelText}</p>
        </Dialog>
      )}
    </>
  )
}

interface OrderProps extends BackfillProps {
  readonly onOrdered: () => void
}

function Order({ path, onOrdered }: OrderProps) {
  const from = useSignal('')
  const to = useSignal('')
  const isAgain = useSignal(false)
  const plan = useSignal<{ readonly of: string; readonly value: Plan } | null>(null)
  const error = useSignal<RequestError | null>(null)
  const busy = useSignal<'estimate' | 'order' | null>(null)
  // An order that is sent again after a lost response is the same order.
  const idempotency = useRef('')
  const fields = { from: from.value, to: to.value, redeliver: isAgain.value }
  const current = JSON.stringify(fields)
  const send = async (what: 'estimate' | 'order', body: object, onDone: (value: Plan) => void) => {
    if (busy.value !== null) return
    busy.value = what
    const answer = await request<Plan>('POST', `${path}backfill/`, body)
    busy.value = null
    error.value = answer.ok ? null : { ...answer.error, message: strings.backfillError(answer.error.message) }
    if (answer.ok) onDone(answer.value)
  }
  const estimate = (event: Event) => {
    event.preventDefault()
    plan.value = null
    return send('estimate', { ...fields, dry_run: true }, (value) => {
      idempotency.current = crypto.getRandomValues(new Uint32Array(4)).join('-')
      plan.value = { of: current, value }
    })
  }
  // The heights of the estimate, because a range with an open end would move.
  const order = ({ from: first, to: last }: Plan) => {
    const range = { from: String(first), to: String(last), redeliver: isAgain.value }
    return send('order', { ...range, idempotency_key: idempotency.current }, () => {
      plan.value = null
      onOrdered()
      refreshAll()
    })
  }
  const errors = error.value?.status === 400 ? fieldErrors(error.value.message) : {}
  const isShownAtField = errorAt(errors, 'from') !== null || errorAt(errors, 'to') !== null
  return (
    <form onSubmit={estimate}>
      <p>{strings.backfillText}</p>
      <div class="pair">
        <TextInput
          label={strings.backfillFrom}
          hint={strings.backfillFromHint}
          placeholder={strings.backfillPlaceholder}
          value={from.value}
          error={errorAt(errors, 'from')}
          maxLength={40}
          onText={(text) => (from.value = text.trim())}
        />
        <TextInput
          label={strings.backfillTo}
          hint={strings.backfillToHint}
          placeholder={strings.backfillPlaceholder}
          value={to.value}
          error={errorAt(errors, 'to')}
          maxLength={40}
          onText={(text) => (to.value = text.trim())}
        />
      </div>
      <AgainBox isAgain={isAgain} />
      <p class="beside">
        <button type="submit" disabled={busy.value !== null}>
          {strings.backfillEstimate}
        </button>
        {busy.value === 'estimate' && <span role="status">{strings.backfillEstimating}</span>}
      </p>
      {!isShownAtField && <ErrorNote error={error.value} />}
      <Reserved height={busy.value === 'estimate' ? 120 : 0} isLoading={busy.value === 'estimate'}>
        {plan.value && (
          <Price
            plan={plan.value.value}
            isStale={plan.value.of !== current}
            isBusy={busy.value !== null}
            onOrder={order}
          />
        )}
      </Reserved>
    </form>
  )
}

function AgainBox({ isAgain }: { readonly isAgain: Signal<boolean> }) {
  return (
    <p>
      <label class="inline check">
        <input
          type="checkbox"
          checked={isAgain.value}
          onChange={(event) => (isAgain.value = event.currentTarget.checked)}
        />{' '}
        {strings.backfillAgain}
      </label>
    </p>
  )
}

interface PriceProps {
  readonly plan: Plan
  readonly isStale: boolean
  readonly isBusy: boolean
  readonly onOrder: (plan: Plan) => void
}

function Price({ plan, isStale, isBusy, onOrder }: PriceProps) {
  const { estimate } = plan
  if (estimate === null) return null
  const { rows, rows_most: most, exact, credits, credits_most: creditsMost, seconds } = estimate
  const startText = exact ? strings.backfillStart : strings.backfillStartAbout
  return (
    <>
      <Figures
        figures={[
          {
            name: strings.backfillBlocks,
            value: numberText(plan.to - plan.from + 1),
            note: rangeText(plan),
          },
          {
            name: strings.backfillRows,
            value: exact ? numberText(rows) : strings.backfillAbout(numberText(rows)),
            note: exact ? strings.backfillExact : strings.backfillMost(numberText(most)),
          },
          {
            name: strings.backfillPrice,
            value: strings.backfillCredits(groupedText(credits)),
            note: exact ? undefined : strings.backfillMost(strings.backfillCredits(groupedText(creditsMost))),
          },
          { name: strings.backfillDuration, value: strings.backfillAbout(durationText(seconds * 1_000)) },
        ]}
      />
      <p class="beside">
        <Button
          text={startText(groupedText(credits))}
          class="main"
          disabled={isStale || isBusy}
          onClick={() => onOrder(plan)}
        />
        {isStale && <span class="soft">{strings.backfillStale}</span>}
      </p>
    </>
  )
}
