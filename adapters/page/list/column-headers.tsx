import { changeQuery } from '../data/address.js'
import { Icon } from '../ui/icon.js'
import { texts } from '../ui/texts.js'
import { customColumns } from './custom-columns.js'
import { offsetsInView } from './layout.js'
import { shownSorts } from './loading.js'
import { isNewestFirst, nextSorts } from './paging.js'

/** The direction in which the rows are sorted by the attribute. */
function directionOf(attribute: string): 'asc' | 'desc' | undefined {
  const sorts = shownSorts.value
  if (isNewestFirst(sorts)) return attribute === 'created_at' ? 'desc' : undefined
  return sorts[0]?.attribute === attribute ? sorts[0].direction : undefined
}

const ARIA = { asc: 'ascending', desc: 'descending' } as const

/** A header that sorts on click. */
export function SortHeader({ attribute, text }: { attribute: string; text: string }) {
  const direction = directionOf(attribute)
  const sort = (): void =>
    changeQuery((before) => ({ ...before, sorts: nextSorts(before.sorts, attribute) }))
  return (
    <span role="columnheader" aria-sort={direction && ARIA[direction]}>
      <button type="button" tabIndex={-1} onClick={sort}>
        {text}
        {direction && (
          <>
            {' '}
            <Icon name={direction === 'asc' ? 'up' : 'down'} />
          </>
        )}
      </button>
    </span>
  )
}

/** The column headers. Time, who and type sort on click. */
export function ColumnHeaders() {
  const { columns } = texts.list
  const custom = customColumns.value
  const own = {
    who: <SortHeader attribute="username" text={columns.who} />,
    what: <span role="columnheader">{columns.what}</span>,
    type: <SortHeader attribute="type" text={columns.type} />,
    source: <span role="columnheader">{columns.source}</span>,
  }
  return (
    <div class="head" role="row" aria-rowindex={1}>
      <SortHeader
        attribute="created_at"
        text={custom?.timeName ?? [columns.time, offsetsInView.value].filter(Boolean).join(', ')}
      />
      <span role="columnheader">
        <span class="visually-hidden">{columns.level}</span>
      </span>
      {custom ? custom.headers(own) : Object.values(own)}
    </div>
  )
}
