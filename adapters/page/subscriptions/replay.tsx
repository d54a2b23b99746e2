import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { zone } from '../data/address.js'
import { act, type Subscription } from '../data/managing.js'
import { useLocalTime } from '../ui/local-time.js'
import { showNote } from '../ui/notes.js'
import { texts } from '../ui/texts.js'
import { chartStart, shortTime } from './chart-start.js'
import { Choice, invalidField, onSubmit, TextField, useInvalidFocus } from '../managing/fields.js'
import { managementTexts } from './management-texts.js'
import { ErrorLine } from '../managing/running.js'
import { useRunning } from './use-running.js'

const words = managementTexts.replay

type From = 'skipped' | 'chart' | 'time' | 'beginning'

/** Delivers events again: from the start of the chart, from a time, or from the first skipped event. */
export function Replay({ subscription }: { subscription: Subscription }) {
  const { id, skipped_since: skippedSince } = subscription
  const from = useSignal<From>(skippedSince === null ? 'chart' : 'skipped')
  const [now] = useState(() => new Date().toISOString())
  const time = useLocalTime(now)
  const { error, run } = useRunning()
  const start = chartStart()

  // Without `from`, the service begins with the first skipped event.
  const times: Readonly<Record<From, () => string | undefined>> = {
    skipped: () => undefined,
    chart: () => start,
    time: () => time.time,
    beginning: () => 'beginning',
  }
  const options: (readonly [From, string])[] = [
    ...(skippedSince === null ? [] : ([['skipped', words.skipped]] as const)),
    ...(start === undefined ? [] : ([['chart', words.chart(shortTime(start))]] as const)),
    ['time', words.time],
    ['beginning', words.beginning],
  ]
  // The chart may have become empty, and skipped events may have been replayed.
  const [chosen] = options.find(([option]) => option === from.value) ?? options[0]!
  const submit = onSubmit(
    () =>
      void run(async () => {
        const begin = times[chosen]()
        await act('subscriptions', id, 'replay', begin === undefined ? {} : { from: begin })
        showNote(words.done)
      }),
  )
  return (
    <section class="section" aria-label={words.title}>
      <h2>{words.title}</h2>
      <form class="managed-form" ref={useInvalidFocus(error)} onSubmit={submit}>
        <p>
          {words.text} {words.chartHint}
        </p>
        <Choice
          label={words.from}
          name="replay"
          chosen={chosen}
          choose={(choice) => (from.value = choice)}
          options={options}
        />
        {chosen === 'time' && (
          <>
            <TextField
              label={words.time}
              name="from"
              type="datetime-local"
              value={time.wall}
              isRequired
              hint={texts.range.zone(zone.value)}
              invalid={invalidField(error)}
            />
            {time.note}
          </>
        )}
        <ErrorLine error={error} />
        <div class="managed-actions">
          <button type="submit" class="btn small">
            {words.run}
          </button>
        </div>
      </form>
    </section>
  )
}
