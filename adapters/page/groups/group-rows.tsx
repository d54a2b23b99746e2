import { visibleText } from '../../../src/describing/visible-text.js'
import type {
  EventGroup,
  EventGroups,
  GroupValue,
  NumberSummary,
  Percentile,
} from '../../../src/store/groups.js'
import { formatNumber } from '../data/format.js'
import { isolated } from '../data/isolated.js'
import { texts } from '../ui/texts.js'
import { canShow, showGroup } from './group-state.js'
import { groupsTexts } from './groups-texts.js'
import { Sparkline } from './sparkline.js'

const SHARES = [50, 95, 99] as const

const valueText = (value: GroupValue): string =>
  value === null ? groupsTexts.missing : visibleText(String(value))

const endText = (end: number | null): string =>
  end === null ? groupsTexts.unbounded : formatNumber(end)

function PercentileCell({ value, low, high, exact }: Percentile & { readonly exact: boolean }) {
  if (exact) return <td>{formatNumber(value)}</td>
  return (
    <td>
      ≈{formatNumber(value)}
      <small>{groupsTexts.interval(endText(low), endText(high))}</small>
    </td>
  )
}

function NumberCells({ summary }: { summary: NumberSummary | undefined }) {
  return (
    <>
      {SHARES.map((share) =>
        summary ? (
          <PercentileCell key={share} {...summary[`p${share}`]} exact={summary.exact} />
        ) : (
          <td key={share} />
        ),
      )}
    </>
  )
}

/** The column headers of the percentiles of an attribute. */
export const NumberHeaders = ({ name }: { name: string }) => (
  <>
    {SHARES.map((share) => (
      <th key={share} scope="col">
        {groupsTexts.percentile(share, isolated(visibleText(name)))}
      </th>
    ))}
  </>
)

interface Props {
  readonly group: EventGroup
  readonly shown: EventGroups
  readonly numbers: readonly string[]
}

/** One group. A click shows its events. */
export function GroupRow({ group, shown, numbers }: Props) {
  const { values, count, exact, error } = group
  const isClickable = canShow(group)
  const show = (): void => showGroup(group, shown.by)
  const [first, ...others] = values.map(valueText)
  const countText = exact ? formatNumber(count) : `≈${formatNumber(count)}`
  const events = texts.common.events(count)
  return (
    <tr class={isClickable ? 'clickable' : undefined} onClick={isClickable ? show : undefined}>
      <th scope="row">
        {isClickable ? (
          <button
            type="button"
            class="link"
            aria-label={groupsTexts.show(
              exact ? events : groupsTexts.about(events),
              [first, ...others].join(', '),
            )}
          >
            <bdi>{first}</bdi>
          </button>
        ) : (
          <bdi>{first}</bdi>
        )}
      </th>
      {others.map((text, i) => (
        <td key={i} class="group-value">
          <bdi>{text}</bdi>
        </td>
      ))}
      <td>
        {countText}
        {!exact && <small>± {formatNumber(error)}</small>}
      </td>
      {shown.buckets && (
        <td>
          <Sparkline group={group} edges={shown.buckets.edges} />
        </td>
      )}
      {numbers.map((name) => (
        <NumberCells key={name} summary={group.numbers[name]} />
      ))}
    </tr>
  )
}
