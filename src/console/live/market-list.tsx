// The markets by volume, with a filter. Selecting one changes the URL.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { urlWith } from '../address.dom.ts'
import { bindInput } from '../ui/frame.tsx'
import { ageText, changeText, compactText, priceText } from './formats.ts'
import { clock, coin, markets, replay, selectMarket } from './live-page.dom.ts'
import { filterMarkets, type Market } from './markets.ts'
import { Panel } from './panel.tsx'
import { pageNow } from './runtime.dom.ts'
import { MARKETS } from './strings.ts'
import { showTab } from './tabs.tsx'

const ROWS_MAX = 400
const filter = signal('')

const { columns } = MARKETS
/** Of devices without a pointer that hovers, few have a key to press. */
const hasKeyboard = matchMedia('(hover: hover)').matches

export function MarketList() {
  useEffect(() => {
    const focusFilter = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      document.getElementById('market-filter')?.focus()
    }
    addEventListener('keydown', focusFilter)
    return () => removeEventListener('keydown', focusFilter)
  }, [])
  const shown = filterMarkets(markets.value, filter.value, ROWS_MAX)
  const now = clock.now(pageNow())
  return (
    <Panel
      name="markets"
      title={
        <>
          {MARKETS.title}
          {replay.value && <small>{MARKETS.live}</small>}
        </>
      }
      head={
        <input
          id="market-filter"
          type="search"
          aria-label={MARKETS.filter}
          placeholder={hasKeyboard ? MARKETS.filterHint : MARKETS.filter}
          {...bindInput(filter)}
        />
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lets keyboard users scroll the list. */}
      <section class="list" tabIndex={0} aria-label={MARKETS.table}>
        <table>
          <caption class="unseen">{MARKETS.table}</caption>
          <thead>
            <tr>
              <th scope="col">{columns.market}</th>
              <th scope="col">{columns.price}</th>
              <th scope="col">{columns.change}</th>
              <th scope="col">{columns.volume}</th>
              <th scope="col">{columns.age}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((market) => (
              <Row key={market.coin} market={market} isHere={market.coin === coin.value} nowMs={now} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p class="foot">{markets.value.length === 0 ? MARKETS.loading : MARKETS.empty}</p>}
      </section>
    </Panel>
  )
}

function Row({ market, isHere, nowMs }: { market: Market; isHere: boolean; nowMs: number }) {
  const { coin: id, name, price, dayAgoPrice, volume, changedMs } = market
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    selectMarket(id)
    showTab('chart')
  }
  return (
    <tr class={isHere ? 'here' : undefined}>
      <td>
        <a href={urlWith({ coin: id })} onClick={follow} aria-current={isHere ? 'true' : undefined} title={id}>
          {name}
        </a>
      </td>
      <td>{priceText(price)}</td>
      <td class={price > dayAgoPrice ? 'bid' : price < dayAgoPrice ? 'ask' : undefined}>
        {changeText(price, dayAgoPrice)}
      </td>
      <td>{compactText(volume)}</td>
      <td>{ageText(nowMs - changedMs)}</td>
    </tr>
  )
}
