// Names of countries, as the browser knows them.

const NAMES = new Intl.DisplayNames(['en'], { type: 'region' })

/** `code`: ISO 3166-1 alpha-2. */
export const countryName = (code: string): string => NAMES.of(code) ?? code
