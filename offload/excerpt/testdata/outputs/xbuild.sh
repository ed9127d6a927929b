# xbuild, Mono's build of MSBuild projects, of 22 C# projects by mcs; one has two errors, each has a warning.
for p in $(seq -w 1 22); do
  mkdir -p tariff_$p
  cat > tariff_$p/tariff_$p.csproj <<END
<Project DefaultTargets="Build" ToolsVersion="14.0" xmlns="http://schemas.microsoft.com/developer/msbuild/2003">
  <PropertyGroup><OutputType>Library</OutputType><OutputPath>bin</OutputPath><AssemblyName>tariff_$p</AssemblyName><TargetFrameworkVersion>v4.5</TargetFrameworkVersion></PropertyGroup>
  <ItemGroup><Reference Include="mscorlib"><HintPath>/usr/lib/mono/4.5/mscorlib.dll</HintPath></Reference></ItemGroup>
  <ItemGroup><Compile Include="ErrorRate.cs" /></ItemGroup>
  <Import Project="\$(MSBuildBinPath)\\Microsoft.CSharp.targets" />
</Project>
END
  { echo "public class ErrorRate$p {"
    echo '  public static int Of(int n) { int unused = 3; return n; }'
    [ $p = 11 ] && echo '  public static string Name() { return Of(7); }'
    [ $p = 11 ] && echo '  public static int Total() { return Sum(7); }'
    echo '}'; } > tariff_$p/ErrorRate.cs
done
for p in tariff_*; do xbuild $p/$p.csproj; done
