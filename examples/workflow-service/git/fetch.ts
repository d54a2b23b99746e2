import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRemote, TemplateVersion } from '../model.js'
import { failureData } from '../notes.js'
import { findAbandoned } from '../owners.js'
import type { Service } from '../service.js'
import { type Git, GitError } from './git.js'

const factsOf = ({ id, template_id, git_remote_id, revision }: TemplateVersion) => ({
  name: revision,
  template_version_id: id,
  template_id,
  git_remote_id,
})

/** Lists the branches of the remote; records an event if that fails. */
export async function checkRemote(
  { note }: Service,
  git: Git,
  remote: GitRemote,
  { occasion, username }: { readonly occasion: 'create' | 'update'; readonly username: string },
): Promise<void> {
  try {
    await git(['ls-remote', '--', remote.url])
  } catch (error) {
    const facts = { name: remote.name, git_remote_id: remote.id }
    await note(`error:git_remote:${occasion}`, { ...facts, ...failureData(error) }, username)
  }
}

/** Clones the remote and resolves the revision of the version. Its live event has Git's progress messages. */
export async function fetchVersion(
  service: Service,
  git: Git,
  version: TemplateVersion,
  username: string,
): Promise<void> {
  const { documents, note, noteLive, workspace, background } = service
  const facts = factsOf(version)
  const directory = join(workspace, 'template_versions', version.id)
  const remote = documents.get('git_remotes', version.git_remote_id)
  const started = { ...facts, progress: '' }
  await using log = await noteLive('info:template_version:fetch', started, username)
  const logged: Git = (args) => git(args, (text) => log.append('progress', text))
  try {
    if (!remote) throw new Error('the Git remote was removed')
    const progress = await cloneRemote(logged, remote, directory).catch(async (error: unknown) => {
      const failed = { name: remote.name, git_remote_id: remote.id }
      if (error instanceof GitError)
        await note('error:git_remote:fetch', { ...failed, ...failureData(error) }, username)
      throw error
    })
    const lookUp = ['log', '-1', '--format=%H', version.revision, '--']
    const { stdout } = await logged(['-C', directory, ...lookUp])
    await log.close()
    if (!(await end(service, version, { status: 'success', commit_sha: stdout.trim() }))) return
    const outcome = { success: true, message: progress }
    await note('info:template_version:fetch_complete', { ...facts, ...outcome }, username)
  } catch (error) {
    // The process that takes over fails the unfinished fetch.
    if (background.stopping.aborted) return
    await log.close()
    await failFetch(service, version, error, username)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Returns Git's progress messages. */
async function cloneRemote(git: Git, { url }: GitRemote, directory: string): Promise<string> {
  // Without --no-local, Git links the files of a local repository and reports no progress.
  const clone = ['clone', '--bare', '--no-local', '--progress', '--', url, directory]
  return (await git(clone)).stderr.trim()
}

async function failFetch(
  service: Service,
  version: TemplateVersion,
  error: unknown,
  username: string | null,
): Promise<void> {
  const facts = factsOf(version)
  if (!(await end(service, version, { status: 'error' }))) return
  const output = error instanceof GitError ? error.output : ''
  const failure = { ...failureData(error), fetch_output: output }
  await service.note('error:template_version:fetch', { ...facts, ...failure }, username)
  const outcome = { success: false }
  await service.note('info:template_version:fetch_complete', { ...facts, ...outcome }, username)
}

/** Returns false if another process has ended the fetch. */
const end = (
  { documents }: Service,
  { id }: TemplateVersion,
  details: Partial<TemplateVersion>,
): Promise<boolean> =>
  documents.write((tx) => {
    const present = documents.get('template_versions', id)
    if (present?.status !== 'fetching') return false
    tx.put('template_versions', { ...present, ...details })
    return true
  })

/** Fails the fetches whose process has ended. */
export async function recoverFetches(service: Service): Promise<void> {
  const lost = new Error('the service stopped while the fetch was running')
  const { documents } = service
  const fetching = documents.all('template_versions').filter(({ status }) => status === 'fetching')
  for (const version of await findAbandoned(documents, fetching))
    await failFetch(service, version, lost, null)
}
