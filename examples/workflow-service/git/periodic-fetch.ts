import type { GitRemote } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'

interface Fetched {
  /** Consecutive failures. */
  failures: number
  /** Rounds to leave out before the next attempt. */
  skip: number
  at?: string
  seconds?: number
}

const MAX_SKIP = 8

const percentile = (sorted: readonly number[], part: number): number | undefined =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]

/** Fetches all Git remotes from time to time, and sums up once a day. */
export function startPeriodicFetch(service: Service): void {
  const { documents, note, background, timings, settings, mirrors } = service
  if (!mirrors) return
  const fetched = new Map<string, Fetched>()
  const stateOf = ({ id }: GitRemote): Fetched => {
    const known = fetched.get(id) ?? { failures: 0, skip: 0 }
    fetched.set(id, known)
    return known
  }

  const fetchOne = async (remote: GitRemote): Promise<void> => {
    const state = stateOf(remote)
    if (state.skip-- > 0) return
    const facts = { name: remote.name, git_remote_id: remote.id }
    const started = performance.now()
    try {
      await mirrors.refresh(remote)
      if (state.failures > 0) {
        const message = `fetched again after ${state.failures} consecutive failures`
        await note('info:git_remote:periodic_fetch:recovered', { ...facts, message })
      }
      const seconds = (performance.now() - started) / 1000
      fetched.set(remote.id, { failures: 0, skip: 0, at: new Date().toISOString(), seconds })
    } catch (error) {
      if (background.stopping.aborted) return
      state.failures++
      state.skip = Math.min(2 ** state.failures - 1, MAX_SKIP)
      await note('warn:git_remote:periodic_fetch:failed', { ...facts, ...failureData(error) })
    }
  }

  const summarize = async (): Promise<void> => {
    const remotes = documents.all('git_remotes')
    const isOff = settings.all().values['git_remote_periodic_fetch_summary'] === false
    if (isOff || remotes.length === 0) return
    const states = remotes.map(stateOf)
    const seconds = states.flatMap((state) => state.seconds ?? []).toSorted((a, b) => a - b)
    await note('info:git_remote:periodic_fetch:summary', {
      total_count: remotes.length,
      fetched_count: states.filter(({ at }) => at !== undefined).length,
      failing_count: states.filter(({ failures }) => failures > 0).length,
      oldest_fetch_at: states.flatMap(({ at }) => at ?? []).toSorted()[0],
      fastest_seconds: seconds[0],
      median_seconds: percentile(seconds, 0.5),
      p95_seconds: percentile(seconds, 0.95),
      slowest_seconds: seconds.at(-1),
    })
  }

  background.repeat(timings.gitFetch, async () => {
    for (const remote of documents.all('git_remotes')) await fetchOne(remote)
  })
  background.repeat(timings.gitSummary, summarize)
}
