import type { ComponentChildren } from 'preact'
import { zone } from '../data/address.js'
import { offsetsOf } from '../data/format.js'
import { describeConjunct } from '../data/phrases.js'
import type { PageQuery } from '../data/query.js'
import { Phrases } from '../ui/phrases.js'
import { rangeText } from '../ui/range-text.js'
import { texts } from '../ui/texts.js'
import { printTexts } from './print-texts.js'

/** A term with its description. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

interface QueryFactsProps {
  readonly query: PageQuery
  readonly range: string | undefined
  /** All times shown beside these facts. */
  readonly times: readonly string[]
}

/** The query in words, its time range, and the zone of all times with its offsets. */
export function QueryFacts({ query, range, times }: QueryFactsProps) {
  const { where } = query
  return (
    <>
      <Fact name={printTexts.query}>
        {where.length === 0 && printTexts.everything}
        {where.map((conjunct, index) => (
          <span key={index}>
            {index > 0 && ` ${texts.common.and} `}
            <Phrases of={describeConjunct(conjunct, texts.words)} />
          </span>
        ))}
      </Fact>
      <Fact name={printTexts.range}>
        {rangeText(query.range)}
        {range !== undefined && `: ${range}`}
      </Fact>
      <Fact name={printTexts.zone}>
        {[...new Set([zone.value, ...offsetsOf(times)])].join(', ')}
      </Fact>
    </>
  )
}
