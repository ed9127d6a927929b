# cmake and ninja -v of 90 C++ files by clang: a warning in every third, two errors in the middle.
mkdir -p src
for f in $(seq -w 1 90); do
  { echo '#include <vector>'; echo '#include <string>'
    echo "std::size_t shelf_$f(const std::vector<std::string>& names) {"
    [ $((10#$f % 3)) = 0 ] && echo '    for (int i = 0; i < names.size(); i++) if (names[i].empty()) return i;'
    [ $f = 46 ] && echo '    names.push_back("error");'
    [ $f = 48 ] && echo '    std::string first = names;'
    echo '    return names.size();'
    echo '}'; } > src/shelf_$f.cpp
done
printf 'cmake_minimum_required(VERSION 3.20)\nproject(shelf CXX)\nfile(GLOB SRC src/*.cpp)\nadd_library(shelf ${SRC})\ntarget_compile_options(shelf PRIVATE -Wall -Wextra)\n' > CMakeLists.txt
CXX=clang++ cmake -G Ninja -B build . && ninja -C build -v -k 0 -j 1
