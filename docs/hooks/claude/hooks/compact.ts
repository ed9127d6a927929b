import type { On, Register } from 'claude-code'

// A message of Claude Code as messages of Chat Completions, which have results apart.
const chat = (m: any) => [
  ...(m.toolResults ?? []).map((r: any) => ({ role: 'tool', tool_call_id: r.tool_use_id, content: r.text })),
  ...(!m.text && !m.toolUses?.length ? [] : [{
    role: m.role,
    content: m.text || null,
    tool_calls: m.toolUses?.length ? m.toolUses.map((u: any) => ({
      id: u.tool_use_id, type: 'function', function: { name: u.tool, arguments: JSON.stringify(u.input) },
    })) : undefined,
  }]),
]

// And back. Calls that stay become text, as the messages that had them are gone.
const own = (m: any) => ({
  role: m.role === 'assistant' ? 'assistant' : 'user',
  text: [m.content, ...(m.tool_calls ?? []).map((c: any) => `${c.function.name} ${c.function.arguments}`)]
    .filter(Boolean).join('\n'),
  toolUses: [],
})

// epitome is found where Claude Code's requests go. Claude Code makes its own summary where epitome makes none.
export const register: Register = (on: On) => {
  on('session.compact', async ($, event, next) => {
    const base = await $.env.get('ANTHROPIC_BASE_URL')
    const body = JSON.stringify({ model: 'claude', messages: event.messages.flatMap(chat) })
    try {
      const url = `${new URL(base as string).origin}/-/compact`
      const answer = await $.http.fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (answer.ok) return { messages: JSON.parse(answer.text).messages.map(own) }
      $.ui.log(`epitome does not compact: ${answer.text}`)
    } catch (error) {
      $.ui.log(`epitome does not compact: ${error}`)
    }
    return next(event)
  })
}
