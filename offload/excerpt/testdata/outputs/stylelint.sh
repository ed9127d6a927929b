# npx stylelint "src/*.css": 80 files with five warnings each; one does not parse.
echo '{"extends":"stylelint-config-standard","defaultSeverity":"warning"}' > .stylelintrc.json
mkdir -p src
for i in $(seq -w 1 80); do
  if [ $i = 41 ]; then printf '.fees { color: red;\n  .x } }\n' > src/error_$i.css
  else printf '.Error_Box { COLOR: #FFFFFF; margin: 0px; }\n#x { color: RED }\n' > src/error_$i.css; fi
done
npx stylelint --no-color "src/*.css"
