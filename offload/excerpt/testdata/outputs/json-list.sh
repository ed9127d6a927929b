# A list of 260 payouts as an API answers it, one item of which differs in its state.
node -e '
const list = []
for (let n = 1; n <= 260; n++) list.push({ id: `po_${7000 + n}`, amount: n * 731 % 9973, currency: "eur", state: n === 127 ? "stuck" : "settled", error: n === 127 ? "account_closed" : null, created: `2026-01-${String(n % 28 + 1).padStart(2, "0")}` })
console.log(JSON.stringify({ object: "list", has_more: false, data: list }, null, 2))'
