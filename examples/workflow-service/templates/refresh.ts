import { randomUUID } from 'node:crypto'
import type { Image, TemplateVersion } from '../model.js'
import { failureData } from '../notes.js'
import { endOf, parentPathOf } from '../paths.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'
import { currentValues } from '../values.js'
import { type ActionsFile, readActionsFile } from './actions-file.js'

export const versionFacts = ({ id, template_id, git_remote_id, revision }: TemplateVersion) => ({
  name: revision,
  template_version_id: id,
  template_id,
  git_remote_id,
})

/** Marks the start of a refresh, which replaces a running one. Returns the version to refresh. */
export const beginRefresh = (
  { documents }: Service,
  version: TemplateVersion,
): Promise<TemplateVersion> =>
  documents.write((tx) => {
    const present = documents.get('template_versions', version.id) ?? version
    const begun = { ...present, refresh_id: randomUUID() }
    tx.put('template_versions', begun)
    return begun
  })

/** Cancels the running refresh; its result will be discarded. */
export async function cancelRefresh(
  { documents, note }: Service,
  version: TemplateVersion,
  username: string,
): Promise<void> {
  const facts = versionFacts(version)
  try {
    await documents.write((tx) => {
      const present = documents.get('template_versions', version.id)
      if (!present?.refresh_id) throw new Problem(409, 'NO_REFRESH', 'no refresh is running')
      tx.put('template_versions', { ...present, refresh_id: null })
    })
  } catch (error) {
    if (!(error instanceof Problem))
      await note('error:template_version:refresh_cancelled', { ...facts, ...failureData(error) })
    throw error
  }
  await note('info:template_version:refresh_cancelled', facts, username)
}

/** Stores the outcome unless another refresh has begun or this one was cancelled. */
async function endRefresh(
  { documents, note }: Service,
  version: TemplateVersion,
  outcome: Partial<TemplateVersion>,
): Promise<boolean> {
  const isCurrent = await documents.write((tx) => {
    const present = documents.get('template_versions', version.id)
    if (!present || present.refresh_id !== version.refresh_id) return false
    tx.put('template_versions', { ...present, ...outcome, refresh_id: null })
    return true
  })
  if (!isCurrent) await note('info:template_version:refresh_superseded', versionFacts(version))
  return isCurrent
}

/** Fetches the revision and loads its actions. The version is one that {@link beginRefresh} returned. */
export async function refreshVersion(
  service: Service,
  version: TemplateVersion,
  username: string | null,
): Promise<void> {
  const { documents, note, git, mirrors, background } = service
  const facts = versionFacts(version)
  const fail = async (error: unknown, outcome: Partial<TemplateVersion> = {}): Promise<void> => {
    if (background.stopping.aborted || !(await endRefresh(service, version, outcome))) return
    const isBroken = outcome.status === 'broken'
    const type = isBroken
      ? 'error:template_version:broken'
      : 'error:template_version:refresh_actions'
    await note(type, { ...facts, ...failureData(error) }, username)
  }
  let commit_sha = ''
  let text = ''
  try {
    const remote = documents.get('git_remotes', version.git_remote_id)
    if (!git || !mirrors || !remote) throw new Error('the Git remote was removed')
    const mirror = await mirrors.refresh(remote)
    commit_sha = (await git(['-C', mirror, 'rev-parse', version.revision, '--'])).stdout.slice(
      0,
      40,
    )
    text = (await git(['-C', mirror, 'show', `${commit_sha}:actions.rb`])).stdout
  } catch (error) {
    return fail(error)
  }
  let file: ActionsFile
  try {
    file = readActionsFile(text)
  } catch (error) {
    return fail(error, { status: 'broken', commit_sha })
  }
  const { actions, requires, readsModel: reads_model } = file
  const outcome = { status: 'success', commit_sha, actions, requires, reads_model } as const
  if (!(await endRefresh(service, version, { ...outcome, float_error: null }))) return
  await buildAgentImage(service, version, file)
  await refreshAssets(service, version, file)
}

async function buildAgentImage(
  { note, images, background }: Service,
  version: TemplateVersion,
  { agentImage }: ActionsFile,
): Promise<void> {
  if (!agentImage) return
  const created_at = new Date().toISOString()
  const name = `agent of ${version.revision}`
  const recipe: Image = {
    ...{ id: version.id, name, context: null, instructions: agentImage, key: null, created_at },
  }
  try {
    await images.build(recipe)
  } catch (error) {
    if (background.stopping.aborted) return
    const facts = { ...versionFacts(version), ...failureData(error) }
    await note('error:template_version:build_agent_image', facts)
  }
}

/** Assets of the version keep their actions if they lack a property that the new ones need. */
async function refreshAssets(
  { documents, note }: Service,
  version: TemplateVersion,
  { actions, requires }: ActionsFile,
): Promise<void> {
  const { values } = currentValues(documents, 'properties')
  const missing = requires.filter((name) => values[name] === undefined)
  for (const asset of documents.all('nodes')) {
    if (asset.template_version_id !== version.id) continue
    const { name, node_path } = asset
    if (missing.length === 0) {
      await documents.write((tx) => tx.put('nodes', { ...asset, actions }))
      continue
    }
    const error = `properties are missing: ${missing.join(', ')}`
    const parent = endOf(parentPathOf(node_path))
    await note('api:action_refresh:warn', { name, parent, node_path, error })
  }
}

/** Refreshes the versions that follow their revision, if its commit has changed. */
export async function followRevisions(service: Service): Promise<void> {
  const { documents, note, git, background } = service
  for (const version of documents.all('template_versions')) {
    if (!version.follows || version.refresh_id) continue
    const remote = documents.get('git_remotes', version.git_remote_id)
    try {
      if (!git || !remote) throw new Error('the Git remote was removed')
      const look = ['ls-remote', '--exit-code', '--', remote.url, version.revision]
      const { stdout } = await git(look)
      if (stdout.startsWith(version.commit_sha ?? '-') && version.float_error === null) continue
      await refreshVersion(service, await beginRefresh(service, version), null)
    } catch (error) {
      if (background.stopping.aborted || version.float_error) continue
      const failure = failureData(error)
      await documents.write((tx) =>
        tx.put('template_versions', { ...version, float_error: failure.error }),
      )
      await note('warn:template_version:float_refresh_failed', {
        ...versionFacts(version),
        ...failure,
      })
    }
  }
}

/** Checks that the revision exists in the Git remote, then refreshes the version. */
export async function verifyRevision(
  service: Service,
  version: TemplateVersion,
  username: string,
): Promise<void> {
  const { documents, note, git } = service
  try {
    const remote = documents.get('git_remotes', version.git_remote_id)
    if (!git || !remote) throw new Error('the Git remote was removed')
    await git(['ls-remote', '--exit-code', '--', remote.url, version.revision])
  } catch (error) {
    const failure = { ...versionFacts(version), ...failureData(error) }
    await note('error:template_version:commit_verification', failure, username)
    return
  }
  await refreshVersion(service, await beginRefresh(service, version), username)
}
