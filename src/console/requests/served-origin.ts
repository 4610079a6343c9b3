// Samples read the address of the gateway from WEIR_URL, so that they also work as files. On a page, they contain the address
// that serves the page.

/** The sample with `origin` in place of the variable: in shells, TypeScript and Python. */
export function withOrigin(sample: string, origin: string): string {
  return sample
    .replaceAll(/ws\$\{WEIR_URL#http\}|\$\{WEIR_URL\/http\/ws\}/g, () => origin.replace('http', 'ws'))
    .replaceAll(/\$WEIR_URL\b|\$\{process\.env\.WEIR_URL\}/g, () => origin)
    .replaceAll(/const \{ WEIR_URL(?: = '')?, (.*) \} = process\.env/g, (_, others: string) => {
      return `const WEIR_URL = '${origin}'\nconst { ${others} } = process.env`
    })
    .replaceAll(/process\.env\.WEIR_URL!?/g, () => `'${origin}'`)
    .replaceAll(/os\.environ\[(['"])WEIR_URL\1\] \+ (['"])/g, (_, _before: string, quote: string) => quote + origin)
    .replaceAll(/os\.environ\[(['"])WEIR_URL\1\]/g, (_, quote: string) => `${quote}${origin}${quote}`)
}
