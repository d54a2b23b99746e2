import type { Token } from '../data/query-tokens.js'

function TokenText({ kind, text, isBad }: Token) {
  if (isBad) return <span class="bad">{text}</span>
  switch (kind) {
    case 'plain':
      return <>{text}</>
    case 'attribute':
      return <i>{text}</i>
    case 'predicate':
      return <em>{text}</em>
    case 'value':
      return <b>{text}</b>
  }
}

/** The text of a query, with its attributes, predicates and values coloured. */
export function QueryText({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map((token, index) => (
        <TokenText key={index} {...token} />
      ))}
    </>
  )
}
