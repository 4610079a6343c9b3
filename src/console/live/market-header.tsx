// The header of the live page, which stays in view: the market, its last price, its last 24 hours, and the state of the
// data. During a replay it shows the price of that time, and no values of today.

import { computed } from '@preact/signals'
import { CopyPrice } from './copy-price.tsx'
import { dayRange } from './day-range.dom.ts'
import { changeText, compactText, differenceText, fundingText, priceText } from './formats.ts'
import { spreadOf } from './grouped-book.ts'
import { HealthChip, PageMenu } from './health.tsx'
import { bookVersion, coin, market, markets, replay, selectMarket, trades } from './live-page.dom.ts'
import * as strings from './strings.ts'

/** The price shown, and the direction of the trade that made it. */
export const lastPrice = computed((): { readonly px: number; readonly side: string } => {
  const past = replay.value
  if (past) void bookVersion.value
  const trade = (past ? past.trades : trades.value)[0]
  if (trade) return { px: trade.px, side: trade.isBuy ? 'bid' : 'ask' }
  if (!past) return { px: market.value?.price ?? Number.NaN, side: '' }
  const [bids, asks] = past.book?.levels() ?? []
  return { px: spreadOf(bids?.[0], asks?.[0])?.middle ?? Number.NaN, side: '' }
})

/** Text, so that prices, which change all the time, do not render the list again. */
const names = computed(() => JSON.stringify(markets.value.map(({ coin, name }) => [coin, name])))

export function MarketHeader() {
  const { px, side } = lastPrice.value
  const isPast = replay.value !== null
  return (
    <div class="strip">
      <h1 class="unseen">
        {coin.value ?? strings.pageTitle} {strings.pageSubtitle}
      </h1>
      <MarketSelect />
      <p class={`last ${side}`}>
        <CopyPrice price={Number.isFinite(px) ? String(px) : ''} text={priceText(px)} isFirst />
      </p>
      {isPast ? <dl class="day" /> : <DayFacts px={px} />}
      <HealthChip />
      <PageMenu />
    </div>
  )
}

function MarketSelect() {
  const listed = JSON.parse(names.value) as [coin: string, name: string][]
  const here = coin.value
  const isListed = listed.some(([one]) => one === here)
  return (
    <select
      class="market"
      aria-label={strings.marketLabel}
      value={here ?? ''}
      onChange={({ currentTarget: { value } }) => selectMarket(value)}
    >
      {!isListed && <option value={here ?? ''}>{here ?? '–'}</option>}
      {listed.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  )
}

function DayFacts({ px }: { readonly px: number }) {
  const { dayAgoPrice = Number.NaN, volume = Number.NaN, funding = Number.NaN } = market.value ?? {}
  const { high, low } = dayRange.value
  const direction = px > dayAgoPrice ? 'bid' : px < dayAgoPrice ? 'ask' : ''
  return (
    <dl class="day">
      <div class={direction}>
        <Name text={strings.dayChange} />
        <dd>
          <span class="difference">{differenceText(px, dayAgoPrice)} </span>
          {changeText(px, dayAgoPrice)}
        </dd>
      </div>
      <Fact name={strings.dayHigh} value={priceText(high)} />
      <Fact name={strings.dayLow} value={priceText(low)} />
      <Fact name={strings.dayVolume} value={Number.isFinite(volume) ? `$${compactText(volume)}` : '–'} />
      <Fact name={strings.fundingRate} value={fundingText(funding)} hint={strings.fundingHint} />
    </dl>
  )
}

function Fact({ name, value, hint }: { name: string; value: string; hint?: string }) {
  return (
    <div title={hint}>
      <Name text={name} />
      <dd>{value}</dd>
    </div>
  )
}

/** Where there is little room, only the first name shows its period. */
function Name({ text }: { readonly text: string }) {
  const rest = text.startsWith(strings.dayPeriod) ? text.slice(strings.dayPeriod.length) : null
  if (rest === null) return <dt>{text}</dt>
  return (
    <dt>
      <span class="period">{strings.dayPeriod}</span>
      {rest}
    </dt>
  )
}
