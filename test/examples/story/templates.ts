import { rename } from 'node:fs/promises'
import { commitFile, createRepository } from './repositories.js'
import { PROD, type Story } from './world.js'

const ASSET = `/api${PROD}/assets/web`

/** Leaves the asset with a version that reads the asset's model. */
export const templates: Story = async (world) => {
  const { post, patch, saw, until, temp } = world
  const url = temp.file('template.git')
  await createRepository(url)
  const commit = (text: string) => commitFile(url, 'actions.rb', text)
  await commit("action 'deploy'\n")
  const remote = await post('/api/git_remotes', 'git_remote', { name: 'template', url })
  const template = await post('/api/templates', 'template', { name: 'web' })
  await patch(`/api/templates/${template.id}`, 'template', { name: 'web server' })
  const { id } = await post(`/api/templates/${template.id}/template_versions`, 'template_version', {
    git_remote_id: remote.id,
    revision: 'main',
  })
  const about = { template_version_id: id }
  await saw('info:template_version:fetch_complete', about)
  const version = `/api/template_versions/${id}`
  const change = (attributes: object) => patch(version, 'template_version', { ...attributes })
  const refresh = () => post(`${version}/refresh`)

  await change({ revision: 'lost' })
  await saw('error:template_version:commit_verification', about)
  await saw('api:template_versions:update', about)
  await change({ revision: 'main' })
  await until('loaded actions', async () => {
    return String((await world.get(version)).attributes['actions']) === 'deploy'
  })

  // The first of two refreshes ends after the second has begun.
  await until('a superseded refresh', async () => {
    await Promise.all([refresh(), refresh()])
    return world.has('info:template_version:refresh_superseded')
  })
  await until('a cancelled refresh', async () => {
    await refresh()
    return (await world.attempt(`POST ${version}/refresh/cancel`)) === 204
  })
  await saw('info:template_version:refresh_cancelled', about)

  await commit('deploy!\n')
  await refresh()
  await saw('error:template_version:broken', about)
  await commitFile(url, 'README.md', 'no actions')
  await commit("action 'deploy'\nagent_image 'fail no space'\n")
  await refresh()
  await saw('error:template_version:build_agent_image', about)

  await patch(ASSET, 'asset', { template_version_id: id })
  await commit("action 'deploy'\nassetmodel_actions\nrequires 'cluster'\n")
  await change({ follows: true })
  await saw('api:action_refresh:warn', { name: 'Web server' })
  await rename(url, `${url}.moved`)
  await saw('warn:template_version:float_refresh_failed', about)
  await refresh()
  await saw('error:template_version:refresh_actions', about)
  await rename(`${url}.moved`, url)
  await change({ follows: false })
}
