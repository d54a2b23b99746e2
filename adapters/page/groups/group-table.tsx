import { useEffect } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { EventGroups } from '../../../src/store/groups.js'
import { errorText } from '../list/load-failure.js'
import { announce } from '../ui/notes.js'
import { GroupForm } from './group-form.js'
import { GroupRow, NumberHeaders } from './group-rows.js'
import {
  followGroups,
  grouped,
  groups,
  groupsFault,
  isReading,
  reloadGroups,
} from './group-state.js'
import { groupsTexts } from './groups-texts.js'

/** The number of groups, and a note on the figures that are estimates. */
function summaryOf({ groups, distinct, total, exact, read }: EventGroups): string {
  if (total === 0 && exact.total) return groupsTexts.none
  const number = groupsTexts.complete(distinct, total)
  const isEstimate =
    !exact.total ||
    groups.some((group) => !group.exact || Object.values(group.numbers).some((one) => !one.exact))
  return [
    `${exact.groups && exact.total ? number : groupsTexts.atLeast(number)}.`,
    groups.length < distinct && groupsTexts.more(groups.length),
    isEstimate && groupsTexts.estimated(read),
    !exact.groups && groupsTexts.incomplete,
  ]
    .filter(Boolean)
    .join(' ')
}

function Table({ shown }: { shown: EventGroups }) {
  const numbers = grouped.value?.numbers ?? []
  return (
    <table>
      <caption class="visually-hidden">{groupsTexts.region}</caption>
      <thead>
        <tr>
          {shown.by.map((name) => (
            <th key={name} scope="col" class="group-value">
              {visibleText(name)}
            </th>
          ))}
          <th scope="col">{groupsTexts.events}</th>
          {shown.buckets && <th scope="col">{groupsTexts.overTime}</th>}
          {numbers.map((name) => (
            <NumberHeaders key={name} name={name} />
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.groups.map((group) => (
          <GroupRow
            key={JSON.stringify(group.values)}
            group={group}
            shown={shown}
            numbers={numbers}
          />
        ))}
      </tbody>
    </table>
  )
}

function Failure({ error }: { error: Error }) {
  return (
    <p role="alert">
      {groupsTexts.failed} {errorText(error)}{' '}
      <button type="button" class="link" onClick={reloadGroups}>
        {groupsTexts.again}
      </button>
    </p>
  )
}

/** The groups of the matching events as a table, in place of the list. */
export function GroupTable() {
  useEffect(followGroups, [])
  const shown = groups.value
  const summary = shown && summaryOf(shown)
  useEffect(() => {
    if (summary) announce(summary)
  }, [summary])
  // There are no groups while the list comes back.
  if (!grouped.value) return null
  const isStale = isReading.value && shown !== undefined
  return (
    <section class="events groups" id="events" aria-label={groupsTexts.region}>
      <GroupForm />
      {groupsFault.value ? (
        <Failure error={groupsFault.value} />
      ) : (
        <p class="group-summary">{summary ?? groupsTexts.loading}</p>
      )}
      {shown && shown.groups.length > 0 && (
        <div
          class={isStale ? 'group-scroll stale' : 'group-scroll'}
          role="group"
          aria-busy={isStale}
          tabIndex={0}
          aria-label={groupsTexts.region}
        >
          <Table shown={shown} />
        </div>
      )}
    </section>
  )
}
