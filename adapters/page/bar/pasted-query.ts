const WORD = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs
const PIECE = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^'"\\]+)/gs

/** The words of a shell's line, quotes taken off. */
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

const QUERY = /^(?:filter(?:\[|%5B)|range=)/i

/** What stands behind the `?` of an address, without what stands behind `#`. */
const queryOf = (address: string): string => /\?([^#]*)/.exec(address)?.[1] ?? ''

export interface Pasted {
  readonly query: string
  /** Nothing but filters: no address says that all of time is meant. */
  readonly isBare: boolean
}

/**
 * The query in a pasted text: the address of this page or of the endpoint, a line with curl, or a
 * bare `filter[…]`. `undefined` for any other text.
 */
export function readPasted(text: string): Pasted | undefined {
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
