const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs
const PIECE = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^'"\\]+)/gs

/** Splits a shell command into words and removes the quotes. */
function shellWords(line: string): string[] {
  return [...line.matchAll(WORD)].map(([word]) =>
    [...word.matchAll(PIECE)]
      .map(
        ([, single, double, escaped, bare]) =>
          single ?? double?.replace(/\\([$`"\\\n])/g, '$1') ?? escaped ?? bare ?? '',
      )
      .join(''),
  )
}

const QUERY = /^(?:filter(?:\[|%5B)|range=|q=)/i

/** The query string of an address, without the hash. */
const queryOf = (address: string): string => /\?([^#]*)/.exec(address)?.[1] ?? ''

export interface PastedQuery {
  readonly query: string
  /** The text has only filters and no address, so a missing range does not mean all time. */
  readonly isBare: boolean
}

/**
 * Extracts the query from a pasted text: an address of this page or of the API, a curl command, or a
 * bare `filter[…]`. `undefined` for any other text.
 */
export function parsePasted(text: string): PastedQuery | undefined {
  const line = text.trim()
  const bare = line.replace(/^[?&]/, '')
  if (QUERY.test(bare)) return { query: withoutLimit(bare.replace(/#.*$/s, '')), isBare: true }
  const words = /^curl\s/.test(line)
    ? shellWords(line)
    : [line.replace(/^GET\s+/i, '').replace(/\s+HTTP\/[\d.]+$/, '')]
  const address = words.find((word) => /^(?:https?:\/\/[^?]*|\/[^?]*)\?/.test(word))
  const query = withoutLimit(queryOf(address ?? ''))
  const isOurs = query.split('&').some((pair) => QUERY.test(pair))
  return isOurs ? { query, isBare: false } : undefined
}

const withoutLimit = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith('limit='))
    .join('&')
