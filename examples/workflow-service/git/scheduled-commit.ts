import { scheduleFacts } from '../background/schedule-facts.js'
import type { ScheduledChange } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'

/** `*` stands for any part of a name, `**` for any path. */
const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .split(/(\*\*|\*)/)
      .map(
        (part) =>
          ({ '*': '[^/]*', '**': '.*' })[part] ?? part.replaceAll(/[^\w/]/g, String.raw`\$&`),
      )
      .join('')}$`,
  )

/**
 * Resolves to true if a scheduled change may create its change now. Its revision must exist in its Git remote, and the
 * newest commit must touch a file that matches one of its patterns.
 */
export async function checkCommit(service: Service, due: ScheduledChange): Promise<boolean> {
  const { documents, note, git } = service
  const { git_remote_id, revision, commit_file_patterns } = due
  if (git_remote_id === null || revision === null) return true
  const facts = scheduleFacts(due)
  const remote = documents.get('git_remotes', git_remote_id)
  let sha = ''
  try {
    if (!git || !remote) throw new Error('the Git remote does not exist')
    const { stdout } = await git(['ls-remote', '--exit-code', '--', remote.url, revision])
    sha = stdout.slice(0, 40)
  } catch (error) {
    await note('error:scheduled_changes:git_sha', { ...facts, ...failureData(error) })
    return false
  }
  if (commit_file_patterns.length === 0) return true
  try {
    const mirror = await service.mirrors!.refresh(remote)
    const show = ['show', '--name-only', '--format=', sha]
    const { stdout } = await git(['-C', mirror, ...show])
    const files = stdout.split('\n').filter((file) => file !== '')
    if (files.some((file) => commit_file_patterns.some((pattern) => patternOf(pattern).test(file))))
      return true
  } catch (error) {
    // The change is created, because its patterns may be satisfied.
    await note('warning:scheduled_changes:commit_file_patterns', {
      ...facts,
      ...failureData(error),
    })
    return true
  }
  if (due.every_seconds === null) {
    const message = 'the schedule has ended, and no commit matched its file patterns'
    await note('warning:scheduled_changes:commit_file_patterns', { ...facts, message })
  }
  return false
}
