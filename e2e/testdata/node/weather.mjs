// What the sessions of all dialects have in common: what a tool answers, and how scenarios are played.

// page is what the tool says of a city: some 80 bytes for each hour.
export function page(city, hours = 240) {
  const skies = ["clear", "cloudy", "overcast", "foggy", "stormy"];
  let text = `The weather of ${city}, hour by hour\n`;
  for (let hour = 0; hour < hours; hour++) {
    text += `hour ${hour}: the sky over ${city} is ${skies[(hour * hour) % 5]}, with a steady wind from the northern hills\n`;
  }
  return text;
}

// play runs scenarios in order, and prints one line of JSON for each.
export async function play(scenarios) {
  for (const [name, run] of Object.entries(scenarios)) {
    console.log(JSON.stringify({ ok: name, ...(await run()) }));
  }
}
