import { readFile, rename, writeFile } from 'node:fs/promises'
import { commitFile, createRepository, git } from './repositories.js'
import type { Story } from './world.js'

export const gitRemotes: Story = async ({ post, patch, del, saw, startChange, temp }) => {
  const url = temp.file('remote.git')
  await createRepository(url)
  const expected_sha = await commitFile(url, 'README.md', 'first')
  const remote = await post('/api/git_remotes', 'git_remote', { name: 'remote', url })
  const clone = [{ action: 'git_clone', git_remote_id: remote.id }]
  const good = await startChange('clone', clone)
  await saw('api:changes:success', { change_id: good.id })
  await saw('info:git_remote:periodic_fetch:summary')

  await rename(url, `${url}.moved`)
  const stale = await startChange('clone', clone)
  await saw('warn:git_remote:mountable_fetch_failed', { git_remote_id: remote.id })
  await saw('api:changes:success', { change_id: stale.id })
  await saw('warn:git_remote:periodic_fetch:failed', { git_remote_id: remote.id })
  await rename(`${url}.moved`, url)
  await saw('info:git_remote:periodic_fetch:recovered', { git_remote_id: remote.id })

  // The repository moves away once it has taken the push.
  const hook = `#!/bin/sh\ncat > /dev/null\nmv '${url}' '${url}.gone'\n`
  await writeFile(`${url}/hooks/post-receive`, hook, { mode: 0o755 })
  const pushed_sha = await commitFile(url, 'README.md', 'second', false)
  await git(`${url}.work`, 'bundle', 'create', '-q', temp.file('bundle'), 'main')
  const bundle = (await readFile(temp.file('bundle'))).toString('base64')
  const push = { branch: 'main', pushed_sha, expected_sha, project_code: 'acme', bundle }
  await post(`/api/git_remotes/${remote.id}/pushes`, 'push', push)
  await saw('api:git_remote_pushes:create', { pushed_sha })
  await saw('warn:git_remote:push_refresh_failed', { git_remote_id: remote.id })

  const template = await post('/api/templates', 'template', { name: 'gone' })
  const version = { git_remote_id: remote.id, revision: 'main' }
  await post(`/api/templates/${template.id}/template_versions`, 'template_version', version)
  await saw('error:git_remote:fetch', { git_remote_id: remote.id })
  await del(`/api/git_remotes/${remote.id}`)

  const bad = await post('/api/git_remotes', 'git_remote', { name: 'bad', url: temp.file('bad') })
  await saw('error:git_remote:create', { git_remote_id: bad.id })
  await patch(`/api/git_remotes/${bad.id}`, 'git_remote', { url: temp.file('worse') })
  await saw('error:git_remote:update', { git_remote_id: bad.id })
  await del(`/api/git_remotes/${bad.id}`)
}
