// The menu of a page, the way to it, and its neighbours.

import { type Page, SECTIONS, type Section } from './page.ts'

/** Where another part has more pages than these, its menu names the first alone. */
const MENU_MAX = 14

export interface MenuPart {
  readonly title: string
  readonly isHere: boolean
  readonly pages: readonly Page[]
  /** Pages that are left out. */
  readonly more: number
}

export function menuOf(pages: readonly Page[], here: Page): MenuPart[] {
  return (Object.entries(SECTIONS) as [Section, string][]).map(([section, title]) => {
    const all = pages.filter((page) => page.section === section)
    const isHere = section === here.section
    const shown = isHere || all.length <= MENU_MAX ? all : all.slice(0, section === 'info' ? 2 : 3)
    return { title, isHere, pages: shown, more: all.length - shown.length }
  })
}

/** Pages above this one, the home page first. */
export function trailOf(pages: readonly Page[], { address, section }: Page): Page[] {
  const home = pages.find((page) => page.address === '/docs')
  const first = pages.find((page) => page.section === section)
  return [home, first].filter((page) => page !== undefined && page.address !== address && page !== undefined) as Page[]
}

/** The pages before and behind it in its part. */
export function neighboursOf(pages: readonly Page[], here: Page): readonly [Page | undefined, Page | undefined] {
  const part = pages.filter((page) => page.section === here.section)
  const at = part.indexOf(here)
  return [part[at - 1], part[at + 1]]
}
