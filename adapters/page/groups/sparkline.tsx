import type { EventGroup, EventGroups } from '../../../src/store/groups.js'
import { formatNumber, formatShort } from '../data/format.js'
import { groupsTexts } from './groups-texts.js'

const HEIGHT = 20
const BAR = 3
// Height of the lowest bar that is visible.
const MIN_BAR = 1.5

interface Props {
  readonly group: EventGroup
  readonly edges: NonNullable<EventGroups['buckets']>['edges']
}

/** The events of a group over time, as bars. The accessible name contains the highest bar. */
export function Sparkline({ group: { buckets, exact }, edges }: Props) {
  if (!buckets || buckets.length === 0) return null
  const most = Math.max(...buckets)
  const at = buckets.indexOf(most)
  const count = `${exact ? '' : '≈'}${formatNumber(most)}`
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={groupsTexts.most(count, formatShort(new Date(edges[at]!)))}
      viewBox={`0 0 ${buckets.length * (BAR + 1)} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {buckets.map((one, i) => {
        if (one === 0) return null
        const height = Math.max(MIN_BAR, (one / most) * HEIGHT)
        return <rect key={i} x={i * (BAR + 1)} y={HEIGHT - height} width={BAR} height={height} />
      })}
    </svg>
  )
}
