import type { Story } from './world.js'

export const resources: Story = async ({ post, patch, del, set, refused, saw }) => {
  await post('/api/projects', 'project', { code: 'shop' })
  await patch('/api/projects/shop', 'project', { name: 'Shop' })
  const environments = '/api/projects/shop/environments'
  await post(environments, 'environment', { code: 'qa' })
  await patch(`${environments}/qa`, 'environment', { name: 'QA' })
  await del(`${environments}/qa`)
  await del('/api/projects/shop')

  const path = '/projects/acme'
  const bookmark = await post('/api/bookmarks', 'bookmark', { name: 'Acme', path })
  await patch(`/api/bookmarks/${bookmark.id}`, 'bookmark', { name: 'Our project' })
  await del(`/api/bookmarks/${bookmark.id}`)

  await patch('/api/properties', 'properties', { region: 'north' })
  await set({ maintenance_mode: true })
  await refused(409, 'PATCH /api/projects/acme bookmark', {})
  await set({ maintenance_mode: false })
  await saw('info:maintenance_mode:disabled')
  await saw('warn:settings:override', { name: 'region' })
}
